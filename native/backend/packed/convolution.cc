#include "packed/convolution.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace backend {
namespace {

/// Distances, in elements, between rows and between columns.
struct Strides {
  int64_t row;
  int64_t column;
};

struct Copy {
  const float* from;
  Strides from_strides;
  float* to;
  Strides to_strides;
  int64_t rows;
  int64_t columns;
};

/// Copies a matrix blockwise, with relu if kFuseRelu.
template <bool kFuseRelu>
void copy(const Copy& c) {
  constexpr int64_t kBlock = 16;  // floats of a cache line
  for (int64_t first = 0; first < c.rows; first += kBlock) {
    const int64_t last = std::min(first + kBlock, c.rows);
    for (int64_t column = 0; column < c.columns; ++column) {
      const float* const from = c.from + column * c.from_strides.column;
      float* const to = c.to + column * c.to_strides.column;
      for (int64_t row = first; row < last; ++row) {
        const float value = from[row * c.from_strides.row];
        to[row * c.to_strides.row] = kFuseRelu ? std::max(value, 0.0F) : value;
      }
    }
  }
}

int64_t ceil_div(int64_t number, int64_t by) { return (number + by - 1) / by; }

/// Sizes of one call. A line is a window; with dilation d, a window has d lines of every d-th
/// sample, so that a filter covers adjacent samples of a line.
struct Extents {
  int64_t windows, channels, length;  // of the input
  int64_t filters, samples;           // of the weight
  int64_t output_length;              // of the result
  int64_t line;                       // samples from line to line, a multiple of the stride

  Extents(const at::Tensor& x, const at::Tensor& weight, const ConvolutionGeometry& geometry)
      : windows(x.size(0)),
        channels(x.size(1)),
        length(x.size(2)),
        filters(weight.size(0)),
        samples(weight.size(2)) {
    const int64_t padded = geometry.padding_before + length + geometry.padding_after;
    output_length = (padded - geometry.dilation * (samples - 1) - 1) / geometry.stride + 1;
    line = ceil_div(ceil_div(padded, geometry.dilation), geometry.stride) * geometry.stride;
  }
};

/// Transposes the windows to [lines × line, channels], zero-padded, with room for one more filter
/// at the end.
at::Tensor to_lines(const at::Tensor& x, const Extents& e, const ConvolutionGeometry& geometry) {
  at::Tensor lines =
      at::zeros({e.windows * geometry.dilation * e.line + e.samples, e.channels}, x.options());
  const auto* from = x.const_data_ptr<float>();
  auto* to = lines.mutable_data_ptr<float>();
  for (int64_t window = 0; window < e.windows; ++window, from += e.channels * e.length) {
    for (int64_t phase = 0; phase < geometry.dilation; ++phase, to += e.line * e.channels) {
      // Sample i of the window has index (padding_before + i) in the padded window.
      const int64_t first =
          ((phase - geometry.padding_before) % geometry.dilation + geometry.dilation) %
          geometry.dilation;
      if (first >= e.length) continue;
      copy<false>({.from = from + first,
                   .from_strides = {.row = e.length, .column = geometry.dilation},
                   .to = to + (geometry.padding_before + first) / geometry.dilation * e.channels,
                   .to_strides = {.row = 1, .column = e.channels},
                   .rows = e.channels,
                   .columns = ceil_div(e.length - first, geometry.dilation)});
    }
  }
  return lines;
}

}  // namespace

PackedConvolution::PackedConvolution(at::Tensor weight, const at::Tensor& bias,
                                     ConvolutionGeometry geometry)
    : weight_(std::move(weight)),
      bias_(bias.defined() ? bias.contiguous() : bias),
      geometry_(geometry),
      linear_(weight_.transpose(1, 2).reshape({weight_.size(0), -1}), bias_, Dtype::kFloat32) {}

bool PackedConvolution::accepts(const at::Tensor& x) const {
  return x.scalar_type() == at::kFloat && x.device().is_cpu() && x.layout() == at::kStrided &&
         x.dim() == 3 && x.size(1) == weight_.size(1) && x.numel() > 0 &&
         geometry_.padding_before + x.size(2) + geometry_.padding_after >
             geometry_.dilation * (weight_.size(2) - 1);
}

at::Tensor PackedConvolution::operator()(const at::Tensor& x, bool fuse_relu) const {
  if (accepts(x)) return convolved(x.contiguous(), fuse_relu);
  const at::Tensor padded =
      at::constant_pad_nd(x, {geometry_.padding_before, geometry_.padding_after});
  const at::Tensor y =
      at::conv1d(padded, weight_, bias_, geometry_.stride, at::IntArrayRef{0}, geometry_.dilation);
  return fuse_relu ? at::relu(y) : y;
}

at::Tensor PackedConvolution::convolved(const at::Tensor& x, bool fuse_relu) const {
  const Extents e(x, weight_, geometry_);
  // Channels are adjacent and lines consecutive, so the samples under a filter are contiguous: a
  // row of the matrix product. Rows that extend into the next line are computed and not copied.
  const at::Tensor lines = to_lines(x, e, geometry_);
  const int64_t rows = e.line / geometry_.stride;
  const at::Tensor under_filters =
      lines.as_strided({e.windows * geometry_.dilation * rows, e.samples * e.channels},
                       {geometry_.stride * e.channels, 1});
  const at::Tensor product = linear_(under_filters, kernels::Epilogue::kStore);

  at::Tensor result = at::empty({e.windows, e.filters, e.output_length}, x.options());
  const auto* from = product.const_data_ptr<float>();
  auto* to = result.mutable_data_ptr<float>();
  for (int64_t window = 0; window < e.windows; ++window, to += e.filters * e.output_length) {
    for (int64_t phase = 0; phase < geometry_.dilation; ++phase, from += rows * e.filters) {
      const Copy back{.from = from,
                      .from_strides = {.row = e.filters, .column = 1},
                      .to = to + phase,
                      .to_strides = {.row = geometry_.dilation, .column = e.output_length},
                      .rows = ceil_div(e.output_length - phase, geometry_.dilation),
                      .columns = e.filters};
      if (fuse_relu) {
        copy<true>(back);
      } else {
        copy<false>(back);
      }
    }
  }
  return result;
}

// ---- Conversion of ATen's convolution operators ----

namespace {

/// Positions of an operator's arguments.
struct Signature {
  std::string_view name;
  size_t arguments, groups;
  std::optional<size_t> transposed;
};

/// weight, bias, stride, padding and dilation are the arguments 1 to 5 of each operator.
constexpr std::array<Signature, 3> kSignatures{
    {{"aten::conv1d", 7, 6, {}}, {"aten::convolution", 9, 8, 6}, {"aten::_convolution", 13, 8, 6}}};

bool is_float_tensor(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         value.toTensor().scalar_type() == at::kFloat &&
         value.toTensor().layout() == at::kStrided && value.toTensor().numel() > 0;
}

/// The only element of a list, if it is at least `least` and small enough that sums do not
/// overflow.
std::optional<int64_t> single_int(const c10::IValue& list, int64_t least) {
  constexpr int64_t kMax = 1'000'000'000;
  if (!list.isIntList() || list.toIntVector().size() != 1) return std::nullopt;
  const int64_t number = list.toIntVector().front();
  return number >= least && number <= kMax ? std::optional(number) : std::nullopt;
}

/// Sets the padding. `padding`: a list, "same" or "valid". Returns false for other values.
bool add_padding(const c10::IValue& padding, const at::Tensor& weight,
                 ConvolutionGeometry& geometry) {
  if (padding.isString()) {
    if (padding.toStringRef() == "valid") return true;
    if (padding.toStringRef() != "same" || geometry.stride != 1) return false;
    const int64_t zeros = geometry.dilation * (weight.size(2) - 1);
    geometry.padding_before = zeros / 2;
    geometry.padding_after = zeros - geometry.padding_before;
    return true;
  }
  const auto zeros = single_int(padding, 0);
  if (!zeros) return false;
  geometry.padding_before = geometry.padding_after = *zeros;
  return true;
}

std::optional<ConvolutionGeometry> geometry_of(std::span<const c10::IValue> arguments,
                                               const at::Tensor& weight) {
  constexpr size_t kStride = 3, kPadding = 4, kDilation = 5;
  const auto stride = single_int(arguments[kStride], 1);
  const auto dilation = single_int(arguments[kDilation], 1);
  if (!stride || !dilation) return std::nullopt;
  if (*stride > 1 && *dilation > 1) return std::nullopt;
  ConvolutionGeometry geometry{.stride = *stride, .dilation = *dilation};
  if (!add_padding(arguments[kPadding], weight, geometry)) return std::nullopt;
  return geometry;
}

}  // namespace

std::shared_ptr<const PackedConvolution> packed_convolution(
    std::string_view name, std::span<const c10::IValue> arguments) {
  const auto signature = std::ranges::find(kSignatures, name, &Signature::name);
  if (signature == kSignatures.end() || arguments.size() != signature->arguments) return nullptr;
  const bool is_grouped =
      !arguments[signature->groups].isInt() || arguments[signature->groups].toInt() != 1;
  const bool transposed = signature->transposed && !(arguments[*signature->transposed].isBool() &&
                                                     !arguments[*signature->transposed].toBool());
  if (is_grouped || transposed || !is_float_tensor(arguments[1])) return nullptr;
  const at::Tensor& weight = arguments[1].toTensor();
  const c10::IValue& bias = arguments[2];
  const bool has_bias = is_float_tensor(bias) && bias.toTensor().dim() == 1 &&
                        bias.toTensor().size(0) == weight.size(0);
  if (weight.dim() != 3 || !(has_bias || bias.isNone())) return nullptr;
  const auto geometry = geometry_of(arguments, weight);
  if (!geometry) return nullptr;
  return std::make_shared<const PackedConvolution>(
      weight, has_bias ? bias.toTensor() : at::Tensor(), *geometry);
}

}  // namespace backend
