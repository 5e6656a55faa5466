// Faults on demand, for the program that this is linked into: its operator new and pthread_create.
#pragma once

#include <cstddef>

namespace faults {

/// The allocation `place` of those that are counted from now on, 1 being the next one, throws
/// std::bad_alloc. 0: none does.
void fail_allocation(size_t place);

/// Allocations counted since fail_allocation().
size_t allocations();

/// The thread `place` of those created from now on, 1 being the next one, cannot be: EAGAIN.
void fail_thread(size_t place);

/// While it lives, allocations of the calling thread are counted or not. By default they are.
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
