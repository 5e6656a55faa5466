// Layers whose work several threads share, and what of it fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

#include "packed/pool_in_use.h"

namespace {

using backend::PoolInUse;
using backend::share_parts;

constexpr int64_t kParts = 64;

/// A thread that has no memory for its part fails the request, and not the process.
TEST(SharePartsTest, ThrowsWhatAPartHasThrown) {
  scheduler::ThreadPool pool(3);
  const scheduler::AssignedPool lent(&pool);
  const PoolInUse in_use(lent);
  for (int64_t failing = 0; failing < kParts; ++failing) {
    std::atomic<int64_t> run{0};
    const auto part = [&](int64_t index) {
      ++run;
      if (index == failing) throw std::bad_alloc();
    };
    EXPECT_THROW(share_parts(kParts, part), std::bad_alloc);
    EXPECT_EQ(run, kParts);  // nothing of it goes on behind the caller's back
  }
  const auto all_fail = [](int64_t) { throw std::runtime_error("no"); };
  EXPECT_THROW(share_parts(kParts, all_fail), std::runtime_error);
  std::atomic<int64_t> run{0};
  share_parts(kParts, [&](int64_t) { ++run; });
  EXPECT_EQ(run, kParts);
}

TEST(SharePartsTest, ThrowsTheSameWhereNobodyHelps) {
  EXPECT_THROW(share_parts(2, [](int64_t) { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(SharePartsTest, EachRowIsOfOnePart) {
  scheduler::ThreadPool pool(3);
  const scheduler::AssignedPool lent(&pool);
  const PoolInUse in_use(lent);
  for (const int64_t rows : {0, 1, 2, 7, 500}) {
    std::vector<std::atomic<int>> times(static_cast<size_t>(rows));
    std::atomic<int64_t> parts{0};
    backend::share_rows(rows, 4 * backend::kShareOfNumbers, [&](int64_t first, int64_t count) {
      ++parts;
      for (int64_t row = first; row < first + count; ++row) ++times[static_cast<size_t>(row)];
    });
    EXPECT_TRUE(std::ranges::all_of(times, [](const auto& each) { return each == 1; })) << rows;
    EXPECT_EQ(parts, std::clamp<int64_t>(rows, 1, 16)) << rows;
  }
}

/// Another thread takes the pool away, and gives it back.
TEST(SharePartsTest, EachPieceOfWorkHasThePoolOfItsTime) {
  scheduler::ThreadPool pool(1);
  scheduler::AssignedPool lent(nullptr);
  const PoolInUse in_use(lent);
  EXPECT_EQ(PoolInUse::current(), nullptr);
  lent = &pool;
  EXPECT_EQ(PoolInUse::current(), &pool);
  lent = nullptr;
  EXPECT_EQ(PoolInUse::current(), nullptr);
}

}  // namespace
