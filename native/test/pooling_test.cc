// Pooling: results as LibTorch's.
#include "packed/pooling.h"

#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace {

using Numbers = std::vector<int64_t>;

struct Pool {
  Numbers taps, strides, paddings;
};

std::vector<c10::IValue> maximum_arguments(const Pool& pool) {
  return {{}, pool.taps, pool.strides, pool.paddings, Numbers{1}, false};
}

std::vector<c10::IValue> average_arguments(const Pool& pool) {
  std::vector<c10::IValue> arguments{{}, pool.taps, pool.strides, pool.paddings, false, true};
  if (pool.taps.size() == 2) arguments.emplace_back();
  return arguments;
}

void expect_like_libtorch(const at::Tensor& x, const Pool& pool) {
  const bool is_plane = pool.taps.size() == 2;
  const auto maximum =
      backend::pooling(is_plane ? "aten::max_pool2d" : "aten::max_pool1d", maximum_arguments(pool));
  const auto average =
      backend::pooling(is_plane ? "aten::avg_pool2d" : "aten::avg_pool1d", average_arguments(pool));
  ASSERT_TRUE(maximum && average);
  const at::Tensor largest = is_plane ? at::max_pool2d(x, pool.taps, pool.strides, pool.paddings)
                                      : at::max_pool1d(x, pool.taps, pool.strides, pool.paddings);
  EXPECT_TRUE((*maximum)(x).equal(largest)) << x.sizes() << pool.taps;
  const at::Tensor mean = is_plane ? at::avg_pool2d(x, pool.taps, pool.strides, pool.paddings)
                                   : at::avg_pool1d(x, pool.taps, pool.strides, pool.paddings);
  EXPECT_TRUE((*average)(x).allclose(mean, 1e-5, 1e-6)) << x.sizes() << pool.taps;
}

TEST(PoolingTest, PoolsOneDimensionLikeLibTorch) {
  const c10::InferenceMode inference_mode;
  for (const int64_t length : {1, 2, 15, 16, 17, 100, 991}) {
    for (const int64_t taps : {1, 2, 3, 8, 13, 75}) {
      for (const int64_t stride : {1, 2, 13}) {
        for (const int64_t padding : {int64_t{0}, taps / 2}) {
          if (length + 2 * padding < taps) continue;
          const at::Tensor x = at::randn({2, length, 3}).transpose(1, 2);
          expect_like_libtorch(x, {{taps}, {stride}, {padding}});
        }
      }
    }
  }
}

TEST(PoolingTest, PoolsTwoDimensionsLikeLibTorch) {
  const c10::InferenceMode inference_mode;
  const Pool pools[] = {{{1, 12}, {1, 1}, {0, 6}}, {{3, 1}, {3, 1}, {0, 0}},
                        {{3, 5}, {2, 3}, {1, 2}},  {{2, 2}, {}, {0, 0}},
                        {{4, 1}, {1, 1}, {2, 0}},  {{1, 1}, {2, 2}, {0, 0}}};
  for (const Pool& pool : pools) {
    for (const auto& size : {Numbers{8, 40}, {40, 8}, {40, 1}, {1, 40}, {31, 33}}) {
      if (size[0] + 2 * pool.paddings[0] < pool.taps[0]) continue;
      if (size[1] + 2 * pool.paddings[1] < pool.taps[1]) continue;
      expect_like_libtorch(at::randn({3, 5, size[0], size[1]}), pool);
    }
  }
}

TEST(PoolingTest, KeepsNaNAndInfinities) {
  const c10::InferenceMode inference_mode;
  for (const int64_t place : {0, 17, 39}) {
    for (const float value :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      at::Tensor x = at::randn({1, 1, 3, 40});
      x[0][0][1][place] = value;
      const Pool pool{{2, 5}, {1, 1}, {0, 2}};
      const at::Tensor y = (*backend::pooling("aten::max_pool2d", maximum_arguments(pool)))(x);
      const at::Tensor wanted = at::max_pool2d(x, pool.taps, pool.strides, pool.paddings);
      EXPECT_TRUE(y.allclose(wanted, 0, 0, /*equal_nan=*/true));
    }
  }
}

TEST(PoolingTest, PassesOtherInputsToLibTorch) {
  const c10::InferenceMode inference_mode;
  const Pool pool{{1, 4}, {1, 2}, {0, 1}};
  const auto maximum = backend::pooling("aten::max_pool2d", maximum_arguments(pool));
  const auto average = backend::pooling("aten::avg_pool2d", average_arguments(pool));
  const at::Tensor alone = at::randn({3, 2, 20});
  EXPECT_TRUE(
      (*maximum)(alone).equal(at::max_pool2d(alone, pool.taps, pool.strides, pool.paddings)));
  const at::Tensor doubles = at::randn({1, 3, 2, 20}).to(at::kDouble);
  EXPECT_TRUE(
      (*average)(doubles).equal(at::avg_pool2d(doubles, pool.taps, pool.strides, pool.paddings)));
  EXPECT_THROW((*maximum)(at::randn({1, 1, 1, 1})), c10::Error);
}

TEST(PoolingTest, LeavesOtherOperators) {
  const Pool pool{{4}, {2}, {1}};
  std::vector<c10::IValue> arguments = maximum_arguments(pool);
  EXPECT_NE(backend::pooling("aten::max_pool1d", arguments), nullptr);
  EXPECT_EQ(backend::pooling("aten::max_pool2d_with_indices", arguments), nullptr);
  arguments[4] = Numbers{2};  // dilation
  EXPECT_EQ(backend::pooling("aten::max_pool1d", arguments), nullptr);
  arguments = maximum_arguments(pool);
  arguments[5] = true;  // ceil_mode
  EXPECT_EQ(backend::pooling("aten::max_pool1d", arguments), nullptr);
  arguments = average_arguments(pool);
  arguments[5] = false;  // count_include_pad
  EXPECT_EQ(backend::pooling("aten::avg_pool1d", arguments), nullptr);
  EXPECT_EQ(backend::pooling("aten::max_pool1d", maximum_arguments({{4}, {2}, {3}})), nullptr);
}

}  // namespace
