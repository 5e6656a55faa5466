// Layers whose work several threads share, and what of it fails.
#include <gtest/gtest.h>

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
  gemm::ThreadPool pool(3);
  const gemm::LentPool lent(&pool);
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

}  // namespace
