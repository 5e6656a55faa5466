// Puts each tensor of PyTorch's right before a page that may not be read: who reads beyond it ends.
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMost = size_t{256} << 20;

class GuardedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    const c10::Device cpu(c10::kCPU);
    if (size == 0) return {nullptr, nullptr, unmap, cpu};
    if (size > kMost) throw std::runtime_error("too large");
    constexpr size_t kAlignment = 64;  // as PyTorch's own: its vectors rely on it
    const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
    const size_t mapped = (rounded + kPage - 1) / kPage * kPage + 2 * kPage;
    void* const memory =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory");
    char* const first = static_cast<char*>(memory);
    mprotect(first, kPage, PROT_NONE);
    mprotect(first + mapped - kPage, kPage, PROT_NONE);
    char* const data = first + mapped - kPage - rounded;
    std::memset(data, 0x5a, size);
    const std::lock_guard lock(mutex());
    mappings().emplace(data, Mapping{memory, mapped});
    return {data, data, unmap, cpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return unmap; }
  void copy_data(void* to, const void* from, size_t size) const override {
    std::memcpy(to, from, size);
  }

 private:
  struct Mapping {
    void* memory;
    size_t size;
  };

  // Both live until the process ends: so do tensors.
  static std::mutex& mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
  }
  static std::unordered_map<void*, Mapping>& mappings() {
    static auto* const mappings = new std::unordered_map<void*, Mapping>;
    return *mappings;
  }

  static void unmap(void* data) {
    if (data == nullptr) return;
    const std::lock_guard lock(mutex());
    const auto found = mappings().find(data);
    munmap(found->second.memory, found->second.size);
    mappings().erase(found);
  }
};

}  // namespace

extern "C" void use_guarded_allocator() {
  static GuardedAllocator allocator;
  constexpr uint8_t kBeforeOthers = 100;
  c10::SetCPUAllocator(&allocator, kBeforeOthers);
}
