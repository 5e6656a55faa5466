// Packed convolutions: results as LibTorch's, bitwise identical in any batch.
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <limits>
#include <string_view>
#include <vector>

#include "packed/convolution.h"
#include "packed/parallel_for.h"

namespace {

using backend::ConvolutionGeometry;
using backend::PackedConvolution;
using Geometries = std::vector<ConvolutionGeometry>;

/// Maximum error of sums of up to 600 products of normally distributed numbers.
constexpr double kClose = 5e-4;

struct Filters {
  at::Tensor weight;
  at::Tensor bias;
};

/// sizes: channels of a group, and taps of each dimension.
Filters filters_of(int64_t filters, std::vector<int64_t> sizes) {
  sizes.insert(sizes.begin(), filters);
  return {.weight = at::randn(sizes), .bias = at::randn({filters})};
}

at::Tensor by_libtorch(const at::Tensor& x, const Filters& filters, const Geometries& geometry,
                       int64_t groups = 1) {
  std::vector<int64_t> padding, strides, dilations;
  for (const ConvolutionGeometry& each : geometry) {
    padding.insert(padding.begin(), {each.padding_before, each.padding_after});
    strides.push_back(each.stride);
    dilations.push_back(each.dilation);
  }
  const auto doubled = [](const at::Tensor& t) { return t.defined() ? t.to(at::kDouble) : t; };
  const at::Tensor filled = doubled(at::constant_pad_nd(x, padding));
  const at::Tensor weight = doubled(filters.weight), bias = doubled(filters.bias);
  const std::vector<int64_t> zeros(geometry.size());
  const at::Tensor y = geometry.size() == 1
                           ? at::conv1d(filled, weight, bias, strides, zeros, dilations, groups)
                           : at::conv2d(filled, weight, bias, strides, zeros, dilations, groups);
  return y.to(at::kFloat);
}

void expect_like_libtorch(const at::Tensor& x, const Filters& filters, const Geometries& geometry,
                          int64_t groups = 1) {
  const PackedConvolution packed(filters.weight, filters.bias, geometry, groups);
  const at::Tensor wanted = by_libtorch(x, filters, geometry, groups);
  const at::Tensor y = packed(x, false);
  ASSERT_EQ(y.sizes(), wanted.sizes());
  EXPECT_TRUE(y.is_contiguous());
  EXPECT_TRUE(y.allclose(wanted, 0, kClose)) << x.sizes() << filters.weight.sizes();
  EXPECT_TRUE(packed(x, true).allclose(at::relu(wanted), 0, kClose));
}

TEST(PackedConvolutionTest, ComputesOneDimensionLikeLibTorch) {
  const c10::InferenceMode inference_mode;
  const Geometries all{{},
                       {.stride = 2, .padding_before = 7, .padding_after = 7},
                       {.stride = 5},
                       {.stride = 3, .padding_before = 1},
                       {.stride = 3, .dilation = 2, .padding_before = 14},
                       {.dilation = 2, .padding_before = 28},
                       {.dilation = 3, .padding_before = 14, .padding_after = 15}};
  for (const ConvolutionGeometry& geometry : all) {
    for (const int64_t channels : {1, 3, 32}) {
      for (const int64_t samples : {1, 4, 15}) {
        for (const int64_t windows : {0, 1, 3}) {
          for (const int64_t length : {15, 40, 257}) {
            Filters filters = filters_of(channels == 3 ? 1 : 20, {channels, samples});
            if (samples == 4) filters.bias = at::Tensor();
            const at::Tensor x = at::randn({windows, length, channels}).transpose(1, 2);
            expect_like_libtorch(x, filters, {geometry});
          }
        }
      }
    }
  }
}

TEST(PackedConvolutionTest, ComputesTwoDimensionsLikeLibTorch) {
  const c10::InferenceMode inference_mode;
  const std::vector<Geometries> all{
      {{}, {}},
      {{}, {.padding_before = 3, .padding_after = 4}},
      {{.padding_before = 2, .padding_after = 1}, {}},
      {{.stride = 2, .padding_before = 4, .padding_after = 4}, {}},
      {{.dilation = 2, .padding_before = 5}, {.stride = 2, .padding_after = 6}},
      {{.padding_before = 3}, {.dilation = 3, .padding_before = 9, .padding_after = 9}}};
  const std::vector<int64_t> taps[] = {{1, 1}, {1, 7}, {4, 1}, {3, 5}};
  const std::vector<int64_t> inputs[] = {{1, 40}, {40, 1}, {6, 33}, {33, 6}, {20, 20}};
  for (const Geometries& geometry : all) {
    for (const auto& tap : taps) {
      for (const auto& input : inputs) {
        const at::Tensor x = at::randn({2, 4, input[0], input[1]});
        const auto fits = [&](size_t i) {
          const ConvolutionGeometry& each = geometry[i];
          return each.padding_before + input[i] + each.padding_after > each.dilation * (tap[i] - 1);
        };
        if (!fits(0) || !fits(1)) continue;
        expect_like_libtorch(x, filters_of(11, {4, tap[0], tap[1]}), geometry);
        expect_like_libtorch(x, filters_of(12, {1, tap[0], tap[1]}), geometry, 4);
      }
    }
  }
}

/// Layers of EEG models: over time, over electrodes, depthwise, and over both dimensions with the
/// electrodes as last dimension.
TEST(PackedConvolutionTest, ComputesLayersOfEegModelsLikeLibTorch) {
  const c10::InferenceMode inference_mode;
  const ConvolutionGeometry same{.padding_before = 32, .padding_after = 32};
  expect_like_libtorch(at::randn({3, 1, 8, 256}), filters_of(8, {1, 1, 64}), {{}, same});
  expect_like_libtorch(at::randn({3, 8, 8, 257}), filters_of(16, {1, 8, 1}), {{}, {}}, 8);
  expect_like_libtorch(at::randn({3, 16, 1, 64}), filters_of(16, {1, 1, 16}), {{}, same}, 16);
  expect_like_libtorch(at::randn({3, 1, 256, 8}), filters_of(40, {1, 25, 8}), {{}, {}});
  expect_like_libtorch(at::randn({3, 25, 330, 1}), filters_of(50, {25, 10, 1}), {{}, {}});
  expect_like_libtorch(at::randn({3, 16, 1, 8}), filters_of(4, {16, 1, 8}), {{}, {}});
  expect_like_libtorch(at::randn({3, 10, 3, 2}), filters_of(40, {10, 2, 60}), {{}, same});
}

TEST(PackedConvolutionTest, KeepsNaN) {
  const c10::InferenceMode inference_mode;
  const PackedConvolution packed(at::randn({3, 1, 2}), at::Tensor(), {{}}, 1);
  at::Tensor x = at::randn({1, 1, 40});
  x[0][0][20] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor is_nan = packed(x, true).isnan();
  EXPECT_EQ(is_nan.sum().item<int64_t>(), 6);  // two samples of each filter
}

TEST(PackedConvolutionTest, AShortWindowHasTheSameBitsInAnyBatch) {
  const c10::InferenceMode inference_mode;
  const PackedConvolution packed(at::randn({40, 30, 9}), at::randn({40}), {{.padding_before = 8}},
                                 1);
  const at::Tensor x = at::randn({5, 30, 4}), together = packed(x, true);
  for (int64_t window = 0; window < x.size(0); ++window) {
    EXPECT_TRUE(packed(x.narrow(0, window, 1), true).equal(together.narrow(0, window, 1)));
  }
}

TEST(PackedConvolutionTest, AWindowHasTheSameBitsInAnyBatchAndOnAnyThreads) {
  const c10::InferenceMode inference_mode;
  const ConvolutionGeometry padded{.stride = 2, .padding_before = 3, .padding_after = 3};
  const PackedConvolution packed(at::randn({34, 16, 3, 7}), at::Tensor(), {{}, padded}, 2);
  const at::Tensor x = at::randn({9, 32, 8, 101});
  const at::Tensor together = packed(x, true);
  for (int64_t window = 0; window < x.size(0); ++window) {
    const at::Tensor alone = packed(x.narrow(0, window, 1), true);
    EXPECT_TRUE(alone.equal(together.narrow(0, window, 1)));
  }
  scheduler::ThreadPool threads(3);
  const scheduler::AssignedPool pool(&threads);
  const backend::ScopedThreadPool scoped(pool);
  EXPECT_TRUE(packed(x, true).equal(together));
}

TEST(PackedConvolutionTest, PassesOtherInputsToLibTorch) {
  const c10::InferenceMode inference_mode;
  const Filters filters = filters_of(2, {3, 5});
  const Geometries padded{{.padding_before = 1}};
  const PackedConvolution packed(filters.weight, filters.bias, padded, 1);
  EXPECT_EQ(packed(at::randn({1, 3, 4}), false).sizes(), (at::IntArrayRef{1, 2, 1}));
  const at::Tensor alone = at::randn({3, 9});
  const at::Tensor wanted = by_libtorch(alone.unsqueeze(0), filters, padded);
  EXPECT_TRUE(packed(alone, false).allclose(wanted[0], 1e-5, 1e-5));
  EXPECT_TRUE(packed(alone, true).allclose(at::relu(wanted[0]), 1e-5, 1e-5));
  EXPECT_THROW(packed(at::randn({1, 3, 3}), false), c10::Error);
  EXPECT_THROW(packed(at::randn({1, 2, 9}), false), c10::Error);
  EXPECT_THROW(packed(at::randn({1, 3, 9}).to(at::kDouble), false), c10::Error);
  const Filters planes = filters_of(2, {3, 5, 1});
  const Geometries both{{.padding_before = 1}, {.padding_after = 2}};
  const PackedConvolution over_planes(planes.weight, planes.bias, both, 1);
  const at::Tensor plane = at::randn({3, 9, 4});
  EXPECT_TRUE(over_planes(plane, false)
                  .allclose(by_libtorch(plane.unsqueeze(0), planes, both)[0], 1e-5, 1e-5));
}

using Numbers = std::vector<int64_t>;

struct Call {
  const char* name = "aten::conv1d";
  at::Tensor weight = at::randn({16, 2, 4});
  Numbers stride{1};
  c10::IValue padding = Numbers{1};
  Numbers dilation{1};
  int64_t groups = 1;
};

std::shared_ptr<const PackedConvolution> packed_of(const Call& call) {
  std::vector<c10::IValue> arguments{{},          call.weight,  at::randn({16}),
                                     call.stride, call.padding, call.dilation};
  const std::string_view name = call.name;
  if (name.ends_with("convolution")) {
    arguments.emplace_back(false);
    arguments.emplace_back(Numbers{0});
  }
  arguments.emplace_back(call.groups);
  for (size_t i = 0; name == "aten::_convolution" && i < 4; ++i) arguments.emplace_back(true);
  return backend::packed_convolution(name, arguments);
}

TEST(PackedConvolutionTest, IsMadeOfTheArgumentsOfAten) {
  const c10::InferenceMode inference_mode;
  const at::Tensor x = at::randn({1, 2, 8});
  const auto length = [&](const Call& call) { return (*packed_of(call))(x, false).size(-1); };
  EXPECT_EQ(length({.stride = {2}, .padding = Numbers{2}}), 5);
  EXPECT_EQ(length({.name = "aten::convolution", .stride = {2}}), 4);
  EXPECT_EQ(length({.name = "aten::_convolution", .dilation = {2}}), 4);
  EXPECT_EQ(length({.padding = "valid"}), 5);
  EXPECT_EQ(length({.padding = "same"}), 8);
  EXPECT_EQ(length({.padding = "same", .dilation = {2}}), 8);
  EXPECT_EQ(length({.stride = {2}, .dilation = {2}}), 2);
  EXPECT_EQ(length({.weight = at::randn({16, 1, 4}), .groups = 2}), 7);
  EXPECT_EQ(packed_of({.stride = {2}, .padding = "same"}), nullptr);
  EXPECT_EQ(packed_of({.groups = 3}), nullptr);
  EXPECT_EQ(packed_of({.groups = 0}), nullptr);
  EXPECT_EQ(packed_of({.stride = {0}}), nullptr);
  EXPECT_EQ(packed_of({.stride = {1, 1}}), nullptr);
  EXPECT_EQ(packed_of({.name = "aten::relu"}), nullptr);
  EXPECT_EQ(packed_of({.weight = at::randn({16, 2, 4, 4})}), nullptr);
  EXPECT_EQ(packed_of({.name = "aten::convolution", .weight = at::randn({16, 2, 1, 4, 4})}),
            nullptr);
}

TEST(PackedConvolutionTest, IsMadeOfTheArgumentsOfAtenForTwoDimensions) {
  const c10::InferenceMode inference_mode;
  const at::Tensor weight = at::randn({16, 2, 3, 4}), x = at::randn({1, 2, 8, 8});
  const auto sizes = [&](Call call) {
    call.name = "aten::conv2d";
    call.weight = weight;
    return (*packed_of(call))(x, false).sizes().vec();
  };
  EXPECT_EQ(sizes({.stride = {2, 1}, .padding = Numbers{0, 2}}), (Numbers{1, 16, 3, 9}));
  EXPECT_EQ(sizes({.dilation = {3, 2}}), (Numbers{1, 16, 4, 4}));
  EXPECT_EQ(sizes({.padding = "same"}), (Numbers{1, 16, 8, 8}));
  EXPECT_EQ(packed_of({.name = "aten::conv2d"}), nullptr);
}

}  // namespace
