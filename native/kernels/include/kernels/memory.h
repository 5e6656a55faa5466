// Memory for the operands of kernels.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace kernels {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

/// Array that starts at a cache line, so that no vector and no row of a tile spans two lines.
template <class Number>
using AlignedArray = std::unique_ptr<Number[], FreeMemory>;

/// Returns an uninitialized array. Throws std::bad_alloc.
template <class Number>
AlignedArray<Number> make_aligned(size_t count) {
  constexpr size_t kLine = 64;
  const size_t lines = (count * sizeof(Number) + kLine - 1) / kLine;
  void* const memory = std::aligned_alloc(kLine, (lines > 0 ? lines : 1) * kLine);
  if (memory == nullptr) throw std::bad_alloc();
  return AlignedArray<Number>(static_cast<Number*>(memory));
}

/// Memory of a packed weight. Zero-initialized, aligned to a cache line. It is allocated from
/// blocks with transparent huge pages, which reduce TLB misses while the weight is read
/// sequentially. A page is returned to the system when no weight uses it any more.
class PanelMemory {
 public:
  PanelMemory() = default;
  /// Throws std::bad_alloc.
  explicit PanelMemory(size_t bytes);
  PanelMemory(PanelMemory&& other) noexcept;
  PanelMemory& operator=(PanelMemory&& other) noexcept;
  PanelMemory(const PanelMemory&) = delete;
  PanelMemory& operator=(const PanelMemory&) = delete;
  ~PanelMemory();

  std::byte* get() const { return start_; }

 private:
  class Block;

  std::shared_ptr<Block> block_;
  std::byte* start_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace kernels
