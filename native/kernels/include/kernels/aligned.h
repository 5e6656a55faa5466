// Memory that begins with a cache line, so that no vector and no row of a tile lies in two.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace kernels {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

template <class Number>
using AlignedArray = std::unique_ptr<Number[], FreeMemory>;

/// Not initialized. Throws std::bad_alloc.
template <class Number>
AlignedArray<Number> make_aligned(size_t count) {
  constexpr size_t kLine = 64;
  const size_t lines = (count * sizeof(Number) + kLine - 1) / kLine;
  void* const memory = std::aligned_alloc(kLine, (lines > 0 ? lines : 1) * kLine);
  if (memory == nullptr) throw std::bad_alloc();
  return AlignedArray<Number>(static_cast<Number*>(memory));
}

}  // namespace kernels
