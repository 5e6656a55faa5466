// Packed convolutions: results as LibTorch's, bitwise identical in any batch.
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "packed/convolution.h"

namespace {

using backend::ConvolutionGeometry;
using backend::PackedConvolution;

/// Maximum error of sums of up to 480 products of normally distributed numbers.
constexpr double kClose = 5e-4;

struct Filters {
  at::Tensor weight;
  at::Tensor bias;
};

Filters filters_of(int64_t filters, int64_t channels, int64_t samples) {
  return {.weight = at::randn({filters, channels, samples}), .bias = at::randn({filters})};
}

at::Tensor by_libtorch(const at::Tensor& x, const Filters& filters,
                       const ConvolutionGeometry& places) {
  const at::Tensor filled = at::constant_pad_nd(x, {places.padding_before, places.padding_after});
  const auto doubled = [](const at::Tensor& t) { return t.defined() ? t.to(at::kDouble) : t; };
  return at::conv1d(doubled(filled), doubled(filters.weight), doubled(filters.bias), places.stride,
                    at::IntArrayRef{0}, places.dilation)
      .to(at::kFloat);
}

TEST(PackedConvolutionTest, IsThatOfLibTorch) {
  const c10::InferenceMode inference_mode;
  const ConvolutionGeometry all_places[] = {
      {},
      {.stride = 2, .padding_before = 7, .padding_after = 7},
      {.stride = 5},
      {.stride = 3, .padding_before = 1},
      {.dilation = 2, .padding_before = 28},
      {.dilation = 3, .padding_before = 14, .padding_after = 15}};
  for (const ConvolutionGeometry& places : all_places) {
    for (const int64_t channels : {1, 3, 32}) {
      for (const int64_t samples : {1, 4, 15}) {
        for (const int64_t windows : {0, 1, 3}) {
          for (const int64_t length : {15, 40, 257}) {
            Filters filters = filters_of(channels == 3 ? 1 : 20, channels, samples);
            if (samples == 4) filters.bias = at::Tensor();
            const PackedConvolution packed(filters.weight, filters.bias, places);
            const at::Tensor x = at::randn({windows, length, channels}).transpose(1, 2);
            const at::Tensor wanted = by_libtorch(x, filters, places);
            EXPECT_TRUE(packed(x, false).allclose(wanted, 0, kClose));
            EXPECT_TRUE(packed(x, true).allclose(at::relu(wanted), 0, kClose));
          }
        }
      }
    }
  }
}

TEST(PackedConvolutionTest, AWindowHasTheSameBitsInAnyBatch) {
  const c10::InferenceMode inference_mode;
  const Filters filters = filters_of(16, 3, 7);
  const PackedConvolution packed(filters.weight, filters.bias,
                                 {.stride = 2, .padding_before = 3, .padding_after = 3});
  const at::Tensor x = at::randn({9, 3, 101});
  const at::Tensor together = packed(x, true);
  for (int64_t window = 0; window < x.size(0); ++window) {
    const at::Tensor alone = packed(x.narrow(0, window, 1), true);
    EXPECT_TRUE(alone.equal(together.narrow(0, window, 1)));
  }
}

TEST(PackedConvolutionTest, LeavesToLibTorchWhatItDoesNotTake) {
  const c10::InferenceMode inference_mode;
  const Filters filters = filters_of(2, 3, 5);
  const PackedConvolution packed(filters.weight, filters.bias, {.padding_before = 1});
  EXPECT_EQ(packed(at::randn({1, 3, 4}), false).sizes(), (at::IntArrayRef{1, 2, 1}));
  const at::Tensor alone = at::randn({3, 9});
  const at::Tensor wanted = by_libtorch(alone.unsqueeze(0), filters, {.padding_before = 1});
  EXPECT_TRUE(packed(alone, false).allclose(wanted[0], 1e-5, 1e-5));
  EXPECT_TRUE(packed(alone, true).allclose(at::relu(wanted[0]), 1e-5, 1e-5));
  EXPECT_THROW(packed(at::randn({1, 3, 3}), false), c10::Error);
  EXPECT_THROW(packed(at::randn({1, 2, 9}), false), c10::Error);
  EXPECT_THROW(packed(at::randn({1, 3, 9}).to(at::kDouble), false), c10::Error);
}

using ComputeTypes = std::vector<int64_t>;

struct Call {
  const char* name = "aten::conv1d";
  at::Tensor weight = at::randn({16, 2, 4});
  ComputeTypes stride{1};
  c10::IValue padding = ComputeTypes{1};
  ComputeTypes dilation{1};
  int64_t groups = 1;
};

std::shared_ptr<const PackedConvolution> packed_of(const Call& call) {
  std::vector<c10::IValue> arguments{{},          call.weight,  at::randn({16}),
                                     call.stride, call.padding, call.dilation};
  const std::string_view name = call.name;
  if (name.ends_with("convolution")) {
    arguments.emplace_back(false);
    arguments.emplace_back(ComputeTypes{0});
  }
  arguments.emplace_back(call.groups);
  for (size_t i = 0; name == "aten::_convolution" && i < 4; ++i) arguments.emplace_back(true);
  return backend::packed_convolution(name, arguments);
}

TEST(PackedConvolutionTest, IsMadeOfTheArgumentsOfAten) {
  const c10::InferenceMode inference_mode;
  const at::Tensor x = at::randn({1, 2, 8});
  const auto places = [&](const Call& call) { return (*packed_of(call))(x, false).size(-1); };
  EXPECT_EQ(places({.stride = {2}, .padding = ComputeTypes{2}}), 5);
  EXPECT_EQ(places({.name = "aten::convolution", .stride = {2}}), 4);
  EXPECT_EQ(places({.name = "aten::_convolution", .dilation = {2}}), 4);
  EXPECT_EQ(places({.padding = "valid"}), 5);
  EXPECT_EQ(places({.padding = "same"}), 8);
  EXPECT_EQ(places({.padding = "same", .dilation = {2}}), 8);
  EXPECT_EQ(packed_of({.stride = {2}, .padding = "same"}), nullptr);
  EXPECT_EQ(packed_of({.stride = {2}, .dilation = {2}}), nullptr);
  EXPECT_EQ(packed_of({.groups = 2}), nullptr);
  EXPECT_EQ(packed_of({.name = "aten::relu"}), nullptr);
  EXPECT_EQ(packed_of({.name = "aten::convolution", .weight = at::randn({16, 2, 4, 4})}), nullptr);
}

}  // namespace
