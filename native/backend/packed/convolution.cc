#include "packed/convolution.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>

#include <algorithm>
#include <utility>

#include "packed/parallel_for.h"

namespace backend {
namespace {

std::vector<kernels::Filters> packed_groups(const at::Tensor& weight, const at::Tensor& bias,
                                            int64_t groups) {
  const at::Tensor values = weight.contiguous();
  const int64_t filters = weight.size(0) / groups, taps = values.numel() / weight.size(0);
  std::vector<kernels::Filters> packed;
  packed.reserve(static_cast<size_t>(groups));
  for (int64_t group = 0; group < groups; ++group) {
    packed.emplace_back(kernels::Filters::Weight{
        .values = values.const_data_ptr<float>() + group * filters * taps,
        .bias = bias.defined() ? bias.const_data_ptr<float>() + group * filters : nullptr,
        .filters = filters,
        .taps = taps});
  }
  return packed;
}

}  // namespace

PackedConvolution::PackedConvolution(at::Tensor weight, const at::Tensor& bias,
                                     std::vector<ConvolutionGeometry> geometry, int64_t groups)
    : weight_(std::move(weight)),
      bias_(bias.defined() ? bias.contiguous() : bias),
      geometry_(std::move(geometry)),
      groups_(packed_groups(weight_, bias_, groups)) {}

Planes PackedConvolution::planes_of(const at::Tensor& x) const {
  const auto axis = [&](int64_t dimension, const ConvolutionGeometry& geometry, int64_t pitch) {
    return ConvolutionAxis{.geometry = geometry,
                           .length = x.size(dimension),
                           .taps = weight_.size(dimension),
                           .pitch = pitch};
  };
  const ConvolutionAxis samples = axis(x.dim() - 1, geometry_.back(), 1);
  if (x.dim() == 3) {
    return {{.geometry = {}, .length = 1, .taps = 1, .pitch = x.size(2)}, samples};
  }
  return {axis(2, geometry_.front(), x.size(3)), samples};
}

bool PackedConvolution::accepts(const at::Tensor& x) const {
  const auto groups = static_cast<int64_t>(groups_.size());
  if (x.scalar_type() != at::kFloat || !x.device().is_cpu() || x.layout() != at::kStrided ||
      x.dim() != weight_.dim() || x.size(1) != weight_.size(1) * groups || x.numel() == 0) {
    return false;
  }
  for (size_t i = 0; i < geometry_.size(); ++i) {
    const auto dimension = static_cast<int64_t>(i) + 2;
    const ConvolutionGeometry& given = geometry_[i];
    const int64_t padded = given.padding_before + x.size(dimension) + given.padding_after;
    if (padded <= given.dilation * (weight_.size(dimension) - 1)) return false;
  }
  return true;
}

at::Tensor PackedConvolution::operator()(const at::Tensor& x, bool fuse_relu) const {
  if (accepts(x)) return convolved(x.contiguous(), fuse_relu);
  const at::Tensor y = by_libtorch(x);
  return fuse_relu ? at::relu(y) : y;
}

at::Tensor PackedConvolution::by_libtorch(const at::Tensor& x) const {
  std::vector<int64_t> padding, strides, dilations;
  for (const ConvolutionGeometry& each : geometry_) {
    padding.insert(padding.begin(),
                   {each.padding_before, each.padding_after});  // last dimension first
    strides.push_back(each.stride);
    dilations.push_back(each.dilation);
  }
  const at::Tensor padded = at::constant_pad_nd(x, padding);
  const auto groups = static_cast<int64_t>(groups_.size());
  const std::vector<int64_t> zeros(geometry_.size());
  return geometry_.size() == 1
             ? at::conv1d(padded, weight_, bias_, strides, zeros, dilations, groups)
             : at::conv2d(padded, weight_, bias_, strides, zeros, dilations, groups);
}

at::Tensor PackedConvolution::convolved(const at::Tensor& x, bool fuse_relu) const {
  const Planes planes = planes_of(x);
  std::vector<int64_t> sizes{x.size(0), weight_.size(0)};
  for (int64_t i = 2; i < x.dim(); ++i) {
    const ConvolutionAxis axis{.geometry = geometry_[static_cast<size_t>(i) - 2],
                               .length = x.size(i),
                               .taps = weight_.size(i),
                               .pitch = 1};
    sizes.push_back(axis.output());
  }
  const at::Tensor y =
      at::empty({sizes[0], sizes[1], planes.output_rows(), planes.output_samples()}, x.options());
  const at::Tensor copy = planes.needs_copy() ? planes.copied(x) : x;
  const auto* const samples = copy.const_data_ptr<float>();
  if (is_short(planes)) {
    multiply(planes, samples, y, fuse_relu);
  } else {
    filter(planes, samples, y, fuse_relu);
  }
  return planes.is_transposed() && planes.output_rows() > 1
             ? y.transpose(2, 3).contiguous().view(sizes)
             : y.view(sizes);
}

void PackedConvolution::filter(const Planes& planes, const float* x, const at::Tensor& y,
                               bool fuse_relu) const {
  const int64_t channels = weight_.size(1), rows = planes.output_rows();
  const auto groups = static_cast<int64_t>(groups_.size());
  const int64_t blocks = groups_.front().blocks(), filters = weight_.size(0) / groups;
  const std::vector<int64_t> offsets = planes.tap_offsets(channels);
  const int64_t group_pitch = channels * planes.channel_pitch();
  auto* const to = y.mutable_data_ptr<float>();
  const auto compute = [&](int64_t index, int64_t block) {  // index: of a group of a window
    const kernels::Filters& group = groups_[static_cast<size_t>(index % groups)];
    for (int64_t row = 0; row < rows; ++row) {
      group.apply(block, {.x = x + index * group_pitch + row * planes.output_row_pitch(),
                          .offsets = offsets.data(),
                          .length = planes.output_samples(),
                          .y = to + (index * filters * rows + row) * planes.output_samples(),
                          .y_stride = rows * planes.output_samples(),
                          .fuse_relu = fuse_relu});
    }
  };
  // The weights of a block stay in the cache for all windows.
  const int64_t inputs = y.size(0) * groups, items = inputs * blocks;
  const double work = static_cast<double>(y.numel()) * static_cast<double>(offsets.size());
  const auto useful_parts = static_cast<int64_t>(work / kMinMultiplyAddsPerPart);
  parallel_for_ranges(items, useful_parts, [&](int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) compute(i % inputs, i / inputs);
  });
}

/// True if vectors of samples would be mostly empty, and vectors of filters are not.
bool PackedConvolution::is_short(const Planes& planes) const {
  return groups_.size() == 1 && weight_.size(0) >= kernels::kFilterSamples &&
         2 * planes.output_rows() * planes.output_samples() <= kernels::kFilterSamples;
}

/// Multiplies the samples under the filters with the weights, as a linear layer.
void PackedConvolution::multiply(const Planes& planes, const float* x, const at::Tensor& y,
                                 bool fuse_relu) const {
  std::call_once(is_packed_, [this] {
    linear_ = std::make_unique<const PackedLinear>(weight_.reshape({weight_.size(0), -1}), bias_,
                                                   Dtype::kFloat32);
  });
  const int64_t channels = weight_.size(1), filters = weight_.size(0);
  const std::vector<int64_t> offsets = planes.tap_offsets(channels);
  const int64_t rows = planes.output_rows(), samples = planes.output_samples();
  const int64_t places = rows * samples;
  const at::Tensor under_filters =
      at::empty({y.size(0) * places, static_cast<int64_t>(offsets.size())}, y.options());
  auto* under = under_filters.mutable_data_ptr<float>();
  for (int64_t window = 0; window < y.size(0); ++window) {
    const float* const from = x + window * channels * planes.channel_pitch();
    for (int64_t place = 0; place < places; ++place) {
      const float* const first =
          from + place / samples * planes.output_row_pitch() + place % samples;
      for (const int64_t offset : offsets) *under++ = first[offset];
    }
  }
  const at::Tensor product = (*linear_)(under_filters, kernels::Epilogue::kStore);
  const auto* const sums = product.const_data_ptr<float>();
  auto* to = y.mutable_data_ptr<float>();
  for (int64_t window = 0; window < y.size(0); ++window) {
    const float* const of_window = sums + window * places * filters;
    for (int64_t filter = 0; filter < filters; ++filter) {
      for (int64_t place = 0; place < places; ++place) {
        const float sum = of_window[place * filters + filter];
        *to++ = fuse_relu ? std::max(sum, 0.0F) : sum;
      }
    }
  }
}

}  // namespace backend
