// Memory of packed weights: huge pages, and their return to the system.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/memory.h"

namespace {

using kernels::PanelMemory;

constexpr size_t kMiB = size_t{1} << 20;

/// Number of resident pages of the memory.
size_t resident_pages(const std::byte* start, size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(start);
  auto* const first = const_cast<std::byte*>(start) - address % page;
  std::vector<unsigned char> pages((bytes + address % page + page - 1) / page);
  if (mincore(first, pages.size() * page, pages.data()) != 0) return 0;
  return static_cast<size_t>(
      std::ranges::count_if(pages, [](unsigned char each) { return (each & 1U) != 0; }));
}

TEST(PanelMemory, IsAlignedAndZero) {
  std::vector<PanelMemory> all;
  for (const size_t bytes : {size_t{1}, size_t{100}, 3 * kMiB, 70 * kMiB, size_t{64}}) {
    const PanelMemory& memory = all.emplace_back(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0U);
    EXPECT_TRUE(std::all_of(memory.get(), memory.get() + bytes,
                            [](std::byte each) { return each == std::byte{0}; }));
    std::memset(memory.get(), 0xff, bytes);
  }
  EXPECT_EQ(all.front().get()[0], std::byte{0xff});
}

TEST(PanelMemory, AllowsZeroBytes) {
  const PanelMemory empty(0);
  EXPECT_NE(empty.get(), nullptr);
  EXPECT_EQ(PanelMemory().get(), nullptr);
}

TEST(PanelMemory, ReturnsPagesWithTheirLastWeight) {
  constexpr size_t kBytes = 6 * kMiB;
  PanelMemory first(kBytes), second(kBytes);
  const std::byte* const start = first.get();
  std::memset(first.get(), 1, kBytes);
  std::memset(second.get(), 1, kBytes);
  ASSERT_GT(resident_pages(start, kBytes), 0U);
  first = PanelMemory();
  // The huge pages at both ends may be shared with other weights.
  EXPECT_EQ(resident_pages(start + 2 * kMiB, kBytes - 4 * kMiB), 0U);
  EXPECT_TRUE(std::all_of(second.get(), second.get() + kBytes,
                          [](std::byte each) { return each == std::byte{1}; }));
}

TEST(PanelMemory, IsMovable) {
  PanelMemory first(kMiB);
  std::byte* const start = first.get();
  start[0] = std::byte{7};
  PanelMemory second(std::move(first));
  PanelMemory third;
  third = std::move(second);
  EXPECT_EQ(third.get(), start);
  EXPECT_EQ(third.get()[0], std::byte{7});
}

}  // namespace
