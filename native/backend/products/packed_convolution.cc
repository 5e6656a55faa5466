#include "products/packed_convolution.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace backend {
namespace {

/// to[column][row] = from[row][column], or zero where it is rectified and negative.
struct Transposition {
  const float* from;
  int64_t from_stride;
  float* to;
  int64_t to_stride;
  int64_t rows;
  int64_t columns;
};

template <bool kRectified>
void transpose(const Transposition& t) {
  constexpr int64_t kBlock = 16;  // floats of a cache line
  for (int64_t first_row = 0; first_row < t.rows; first_row += kBlock) {
    const int64_t last_row = std::min(first_row + kBlock, t.rows);
    for (int64_t column = 0; column < t.columns; ++column) {
      float* const to = t.to + column * t.to_stride;
      for (int64_t row = first_row; row < last_row; ++row) {
        const float value = t.from[row * t.from_stride + column];
        to[row] = kRectified ? std::max(value, 0.0F) : value;
      }
    }
  }
}

int64_t rounded_up(int64_t number, int64_t step) { return (number + step - 1) / step * step; }

}  // namespace

PackedConvolution::PackedConvolution(at::Tensor weight, const at::Tensor& bias, FilterPlaces places)
    : weight_(std::move(weight)),
      bias_(bias.defined() ? bias.contiguous() : bias),
      places_(places),
      product_(make_product(weight_.transpose(1, 2).reshape({weight_.size(0), -1}), bias_,
                            Dtype::kFloat32)) {}

bool PackedConvolution::takes(const at::Tensor& x) const {
  return x.scalar_type() == at::kFloat && x.device().is_cpu() && x.layout() == at::kStrided &&
         x.dim() == 3 && x.size(1) == weight_.size(1) && x.size(2) > 0 &&
         places_.zeros_before + x.size(2) + places_.zeros_behind >= weight_.size(2);
}

at::Tensor PackedConvolution::operator()(const at::Tensor& x, bool rectified) const {
  if (takes(x)) return convolved(x, rectified);
  const at::Tensor filled = at::constant_pad_nd(x, {places_.zeros_before, places_.zeros_behind});
  const at::Tensor y = at::conv1d(filled, weight_, bias_, places_.stride);
  return rectified ? at::relu(y) : y;
}

at::Tensor PackedConvolution::convolved(const at::Tensor& x, bool rectified) const {
  const at::Tensor input = x.contiguous();
  const int64_t filters = weight_.size(0);
  const int64_t samples = weight_.size(2);
  const int64_t windows = input.size(0);
  const int64_t channels = input.size(1);
  const int64_t length = input.size(2);
  const int64_t filled = places_.zeros_before + length + places_.zeros_behind;
  const int64_t places = (filled - samples) / places_.stride + 1;

  // Channels beside each other, windows one behind the other: what lies under a filter is one piece
  // of memory, and a row of the product. Rows that reach into the next window are left out below.
  const int64_t apart = rounded_up(filled, places_.stride);
  const at::Tensor line = at::zeros({windows * apart + samples, channels}, input.options());
  const auto* from = input.const_data_ptr<float>();
  auto* to = line.mutable_data_ptr<float>() + places_.zeros_before * channels;
  for (int64_t window = 0; window < windows; ++window) {
    transpose<false>({.from = from,
                      .from_stride = length,
                      .to = to,
                      .to_stride = channels,
                      .rows = channels,
                      .columns = length});
    from += channels * length;
    to += apart * channels;
  }
  const int64_t rows = windows * apart / places_.stride;
  const at::Tensor under_filters =
      line.as_strided({rows, samples * channels}, {places_.stride * channels, 1});
  const at::Tensor product = (*product_)(under_filters, 0, filters, gemm::Activation::kNone);

  at::Tensor result = at::empty({windows, filters, places}, input.options());
  Transposition back{.from = product.const_data_ptr<float>(),
                     .from_stride = filters,
                     .to = result.mutable_data_ptr<float>(),
                     .to_stride = places,
                     .rows = places,
                     .columns = filters};
  for (int64_t window = 0; window < windows; ++window) {
    if (rectified) {
      transpose<true>(back);
    } else {
      transpose<false>(back);
    }
    back.from += apart / places_.stride * filters;
    back.to += filters * places;
  }
  return result;
}

namespace {

bool is_float_tensor(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().scalar_type() == at::kFloat &&
         value.toTensor().layout() == at::kStrided && value.toTensor().numel() > 0;
}

std::optional<int64_t> only_number(const c10::IValue& list) {
  if (!list.isIntList() || list.toIntVector().size() != 1) return std::nullopt;
  return list.toIntVector().front();
}

/// padding: [zeros on both sides], "same" or "valid".
std::optional<FilterPlaces> places_of(const c10::IValue& stride, const c10::IValue& padding,
                                      int64_t samples) {
  const auto step = only_number(stride);
  if (!step || *step < 1) return std::nullopt;
  if (padding.isString() && padding.toStringRef() == "valid") return FilterPlaces{.stride = *step};
  if (padding.isString() && padding.toStringRef() == "same" && *step == 1) {
    const int64_t before = (samples - 1) / 2;
    return FilterPlaces{.zeros_before = before, .zeros_behind = samples - 1 - before};
  }
  const auto zeros = only_number(padding);
  if (!zeros || *zeros < 0) return std::nullopt;
  return FilterPlaces{.stride = *step, .zeros_before = *zeros, .zeros_behind = *zeros};
}

}  // namespace

std::shared_ptr<const PackedConvolution> packed_conv1d(std::span<const c10::IValue> arguments) {
  const c10::IValue& bias = arguments[1];
  if (!is_float_tensor(arguments[0]) || arguments[0].toTensor().dim() != 3) return nullptr;
  const at::Tensor& weight = arguments[0].toTensor();
  const bool has_bias = is_float_tensor(bias) && bias.toTensor().dim() == 1 &&
                        bias.toTensor().size(0) == weight.size(0);
  const auto places = places_of(arguments[2], arguments[3], weight.size(2));
  if (!(has_bias || bias.isNone()) || !places) return nullptr;
  const bool is_plain =
      only_number(arguments[4]) == 1 && arguments[5].isInt() && arguments[5].toInt() == 1;
  if (!is_plain) return nullptr;
  return std::make_shared<const PackedConvolution>(
      weight, has_bias ? bias.toTensor() : at::Tensor(), *places);
}

}  // namespace backend
