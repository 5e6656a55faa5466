// Parallel loops, and exceptions in their parts.
#include "packed/parallel_for.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

using backend::parallel_for;
using backend::ScopedThreadPool;

constexpr int64_t kParts = 64;

/// An allocation failure in a part fails the request, not the process.
TEST(SharePartsTest, ThrowsWhatAPartHasThrown) {
  scheduler::ThreadPool pool(3);
  const scheduler::AssignedPool lent(&pool);
  const ScopedThreadPool scoped_pool(lent);
  for (int64_t failing = 0; failing < kParts; ++failing) {
    std::atomic<int64_t> run{0};
    const auto part = [&](int64_t index) {
      ++run;
      if (index == failing) throw std::bad_alloc();
    };
    EXPECT_THROW(parallel_for(kParts, part), std::bad_alloc);
    EXPECT_EQ(run, kParts);  // all parts have ended when the exception is rethrown
  }
  const auto all_fail = [](int64_t) { throw std::runtime_error("no"); };
  EXPECT_THROW(parallel_for(kParts, all_fail), std::runtime_error);
  std::atomic<int64_t> run{0};
  parallel_for(kParts, [&](int64_t) { ++run; });
  EXPECT_EQ(run, kParts);
}

TEST(SharePartsTest, ThrowsTheSameWhereNobodyHelps) {
  EXPECT_THROW(parallel_for(2, [](int64_t) { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(SharePartsTest, EachRowIsOfOnePart) {
  scheduler::ThreadPool pool(3);
  const scheduler::AssignedPool lent(&pool);
  const ScopedThreadPool scoped_pool(lent);
  for (const int64_t rows : {0, 1, 2, 7, 500}) {
    std::vector<std::atomic<int>> times(static_cast<size_t>(rows));
    std::atomic<int64_t> parts{0};
    backend::parallel_for_rows(rows, 4 * backend::kMinElementsPerPart,
                               [&](int64_t first, int64_t count) {
                                 ++parts;
                                 for (int64_t row = first; row < first + count; ++row)
                                   ++times[static_cast<size_t>(row)];
                               });
    EXPECT_TRUE(std::ranges::all_of(times, [](const auto& each) { return each == 1; })) << rows;
    EXPECT_EQ(parts, std::clamp<int64_t>(rows, 1, 16)) << rows;
  }
}

/// Another thread unassigns and reassigns the pool.
TEST(SharePartsTest, EachPieceOfWorkHasThePoolOfItsTime) {
  scheduler::ThreadPool pool(1);
  scheduler::AssignedPool lent(nullptr);
  const ScopedThreadPool scoped_pool(lent);
  EXPECT_EQ(ScopedThreadPool::current(), nullptr);
  lent = &pool;
  EXPECT_EQ(ScopedThreadPool::current(), &pool);
  lent = nullptr;
  EXPECT_EQ(ScopedThreadPool::current(), nullptr);
}

}  // namespace
