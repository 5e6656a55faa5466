#include <sys/mman.h>

#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "kernels/memory.h"
#include "matmul/tiling.h"

namespace kernels {
namespace {

/// Size of a huge page. On processors with other sizes it is only the unit in which memory is
/// returned.
constexpr size_t kPageBytes = size_t{2} << 20;

/// Size of a block that several small weights share.
constexpr size_t kBlockBytes = size_t{64} << 20;

/// Guards all blocks.
std::mutex mutex;

}  // namespace

/// Mapped pages. Untouched pages take no memory.
class PanelMemory::Block {
 public:
  explicit Block(size_t bytes)
      : mapped_bytes_(bytes + kPageBytes), bytes_(bytes), users_(bytes / kPageBytes) {
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<uintptr_t>(mapped_);
    first_ = static_cast<std::byte*>(mapped_) + (round_up(address, kPageBytes) - address);
    (void)madvise(first_, bytes_, MADV_HUGEPAGE);  // optional: ordinary pages work as well
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { munmap(mapped_, mapped_bytes_); }

  /// Returns null if not enough space is left.
  std::byte* take(size_t bytes) {
    if (bytes > bytes_ - taken_) return nullptr;
    std::byte* const start = first_ + taken_;
    taken_ += bytes;
    for_pages(start, bytes, [this](size_t page) { ++users_[page]; });
    return start;
  }

  /// Returns the memory of unused pages to the system. The address space is not reused.
  void give_back(const std::byte* start, size_t bytes) {
    for_pages(start, bytes, [this](size_t page) {
      if (--users_[page] == 0) (void)madvise(first_ + page * kPageBytes, kPageBytes, MADV_DONTNEED);
    });
  }

 private:
  template <class Do>
  void for_pages(const std::byte* start, size_t bytes, const Do& act) {
    const auto from = static_cast<size_t>(start - first_);
    for (size_t page = from / kPageBytes; page * kPageBytes < from + bytes; ++page) act(page);
  }

  void* mapped_;
  size_t mapped_bytes_;
  std::byte* first_;  ///< aligned to kPageBytes
  size_t bytes_, taken_ = 0;
  std::vector<uint32_t> users_;  ///< for each page, the number of weights in it
};

PanelMemory::PanelMemory(size_t bytes) : bytes_(round_up(bytes, kLineBytes)) {
  static std::weak_ptr<Block> open;  // block for further small weights
  const std::lock_guard lock(mutex);
  block_ = open.lock();
  if (block_ != nullptr) start_ = block_->take(bytes_);
  if (start_ != nullptr) return;
  const bool is_large = bytes_ > kBlockBytes;
  block_ = std::make_shared<Block>(is_large ? round_up(bytes_, kPageBytes) : kBlockBytes);
  start_ = block_->take(bytes_);
  if (!is_large) open = block_;
}

PanelMemory::PanelMemory(PanelMemory&& other) noexcept
    : block_(std::move(other.block_)),
      start_(std::exchange(other.start_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

PanelMemory& PanelMemory::operator=(PanelMemory&& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PanelMemory::~PanelMemory() {
  if (block_ == nullptr) return;
  const std::lock_guard lock(mutex);
  block_->give_back(start_, bytes_);
}

}  // namespace kernels
