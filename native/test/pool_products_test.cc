// Multiplication and attention on a thread pool: the results do not depend on the pool.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "kernels/memory.h"
#include "random_floats.h"
#include "scheduler/thread_pool.h"

namespace {

using kernels::Format;
using kernels::Linear;
using scheduler::ThreadPool;

constexpr int kHelpers = 3;
constexpr int kRounds = 20;

constexpr int64_t kRows = 9;
constexpr int64_t kInputs = 40;
constexpr int64_t kOutputs = 200;

std::vector<float> random_weight() { return random_floats(kOutputs * kInputs, 1); }
std::vector<float> random_rows() { return random_floats(kRows * kInputs, 2); }

/// All outputs, [kRows, kOutputs], computed one panel per part.
template <class Multiply>
std::vector<float> shared(ThreadPool& pool, int64_t nr, const Multiply& multiply) {
  std::vector<float> y(kRows * kOutputs);
  const auto panels = static_cast<uint32_t>((kOutputs + nr - 1) / nr);
  pool.run(panels, [&](uint32_t panel) noexcept {
    const int64_t first = panel * nr;
    multiply(y.data() + first, first, std::min(nr, kOutputs - first));
  });
  return y;
}

std::vector<Format> all_formats() {
  std::vector<Format> all;
  for (const auto& each : kernels::formats()) all.push_back(each.format);
  return all;
}

class PoolProducts : public testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(Formats, PoolProducts, testing::ValuesIn(all_formats()));

TEST_P(PoolProducts, ResultsDoNotDependOnThreads) {
  const std::vector<float> weight = random_weight(), x = random_rows();
  const Linear linear(GetParam(), {weight.data(), kernels::Storage::kFloat32, kOutputs, kInputs},
                      nullptr);
  const kernels::PackedA rows = linear.pack_a(x.data(), kRows, kInputs);
  const auto multiply = [&](float* y, int64_t first, int64_t count) {
    linear.multiply(rows, {first, count, kernels::Epilogue::kGelu}, y, kOutputs);
  };
  std::vector<float> alone(kRows * kOutputs);
  multiply(alone.data(), 0, kOutputs);
  ThreadPool pool(kHelpers);
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_EQ(shared(pool, linear.nr(), multiply), alone);
  }
}

class PoolAttention : public testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(Formats, PoolAttention, testing::ValuesIn(all_formats()));

TEST_P(PoolAttention, HeadsDoNotDependOnThreads) {
  const Format format = GetParam();
  constexpr int64_t kTokens = 23;
  constexpr int64_t kHeads = 6;
  constexpr int64_t kHeadSize = 16;
  constexpr int64_t kHidden = kHeads * kHeadSize;
  const std::vector<float> states = random_floats(kTokens * 3 * kHidden, 3);
  const auto head_at = [&states](uint32_t head, float* result) -> kernels::AttentionHead {
    const float* const first = states.data() + head * kHeadSize;
    return {.query = first,
            .queries = kTokens,
            .query_stride = 3 * kHidden,
            .key = first + kHidden,
            .value = first + 2 * kHidden,
            .tokens = kTokens,
            .key_value_stride = 3 * kHidden,
            .head_size = kHeadSize,
            .scale = 0.25F,
            .window = kTokens,
            .bias = nullptr,
            .bias_stride = 0,
            .positions = nullptr,
            .result = result + head * kHeadSize,
            .result_stride = kHidden};
  };
  const auto attend = [&](uint32_t head, float* result, float* memory) {
    kernels::attend(format, head_at(head, result), memory);
  };
  const int64_t scratch = kernels::attention_scratch(format, head_at(0, nullptr));
  const auto memory = kernels::make_aligned<float>(static_cast<size_t>(scratch * kHeads));
  std::vector<float> alone(kTokens * kHidden);
  for (uint32_t head = 0; head < kHeads; ++head) attend(head, alone.data(), memory.get());
  ThreadPool pool(kHelpers);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<float> together(alone.size());
    pool.run(kHeads, [&](uint32_t head) noexcept {
      attend(head, together.data(), memory.get() + head * scratch);
    });
    ASSERT_EQ(together, alone);
  }
}

}  // namespace
