// Where weights lie that are laid out once and read from end to end with every product.
#pragma once

#include <cstddef>
#include <memory>

namespace kernels {

/// Zeros at first; begins with a cache line. Taken from blocks of the process whose pages are large
/// where Linux has such: the processor looks up fewer of them. A page goes back to the system with
/// the last weight that lies in it.
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
