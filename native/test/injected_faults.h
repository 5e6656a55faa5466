// Injected failures of operator new and pthread_create in the program that links this file.
#pragma once

#include <cstddef>

namespace faults {

/// Makes the allocation `place` throw std::bad_alloc, counted from now on and from 1. 0: no
/// failure.
void fail_allocation(size_t place);

/// Allocations counted since fail_allocation().
size_t allocations();

/// Makes the creation of thread `place` fail with EAGAIN, counted from now on and from 1.
void fail_thread(size_t place);

/// Turns counting of the calling thread's allocations on or off during its lifetime. Default: on.
class Counting {
 public:
  explicit Counting(bool counting);
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  bool before_;
};

}  // namespace faults
