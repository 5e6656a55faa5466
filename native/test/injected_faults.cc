#include "injected_faults.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace faults {
namespace {

std::atomic<size_t> allocations_counted{0};
std::atomic<size_t> failing_allocation{0};
std::atomic<size_t> threads_counted{0};
std::atomic<size_t> failing_thread{0};
thread_local bool counting = true;

void* allocate(size_t size) noexcept {
  if (counting && ++allocations_counted == failing_allocation) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}

void* allocate_or_throw(size_t size) {
  void* const memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void fail_allocation(size_t place) {
  failing_allocation = place;
  allocations_counted = 0;
}

size_t allocations() { return allocations_counted; }

void fail_thread(size_t place) {
  failing_thread = place;
  threads_counted = 0;
}

Counting::Counting(bool counting_now) : before_(counting) { counting = counting_now; }

Counting::~Counting() { counting = before_; }

}  // namespace faults

void* operator new(size_t size) { return faults::allocate_or_throw(size); }
void* operator new[](size_t size) { return faults::allocate_or_throw(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return faults::allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return faults::allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

/// Replaces the function of the C library or of a sanitizer, and calls it.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (++faults::threads_counted == faults::failing_thread) return EAGAIN;
  return create(thread, attributes, start, argument);
}
