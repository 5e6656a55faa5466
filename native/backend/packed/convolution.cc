#include "packed/convolution.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace backend {
namespace {

/// Numbers from one row, and from one column, to the next.
struct Steps {
  int64_t row;
  int64_t column;
};

struct Copy {
  const float* from;
  Steps from_steps;
  float* to;
  Steps to_steps;
  int64_t rows;
  int64_t columns;
};

/// Negative numbers become zeros where it is rectified.
template <bool kRectified>
void copy(const Copy& c) {
  constexpr int64_t kBlock = 16;  // floats of a cache line
  for (int64_t first = 0; first < c.rows; first += kBlock) {
    const int64_t last = std::min(first + kBlock, c.rows);
    for (int64_t column = 0; column < c.columns; ++column) {
      const float* const from = c.from + column * c.from_steps.column;
      float* const to = c.to + column * c.to_steps.column;
      for (int64_t row = first; row < last; ++row) {
        const float value = from[row * c.from_steps.row];
        to[row * c.to_steps.row] = kRectified ? std::max(value, 0.0F) : value;
      }
    }
  }
}

int64_t divided_up(int64_t number, int64_t by) { return (number + by - 1) / by; }

/// The sizes of one call. A line: a window, or of a dilated convolution every n-th sample of it,
/// which it takes for samples side by side.
struct Extents {
  int64_t windows, channels, length;  // of the input
  int64_t filters, samples;           // of the weight
  int64_t places;                     // of the result
  int64_t line;                       // samples from line to line, whole strides

  Extents(const at::Tensor& x, const at::Tensor& weight, const FilterPlaces& at)
      : windows(x.size(0)),
        channels(x.size(1)),
        length(x.size(2)),
        filters(weight.size(0)),
        samples(weight.size(2)) {
    const int64_t filled = at.zeros_before + length + at.zeros_behind;
    places = (filled - at.dilation * (samples - 1) - 1) / at.stride + 1;
    line = divided_up(divided_up(filled, at.dilation), at.stride) * at.stride;
  }
};

/// [lines × line, channels], and room for a filter behind them.
at::Tensor lines_of(const at::Tensor& x, const Extents& e, const FilterPlaces& at) {
  at::Tensor lines =
      at::zeros({e.windows * at.dilation * e.line + e.samples, e.channels}, x.options());
  const auto* from = x.const_data_ptr<float>();
  auto* to = lines.mutable_data_ptr<float>();
  for (int64_t window = 0; window < e.windows; ++window, from += e.channels * e.length) {
    for (int64_t phase = 0; phase < at.dilation; ++phase, to += e.line * e.channels) {
      // Sample i of the window is number (zeros_before + i) of the filled one.
      const int64_t first = ((phase - at.zeros_before) % at.dilation + at.dilation) % at.dilation;
      if (first >= e.length) continue;
      copy<false>({.from = from + first,
                   .from_steps = {.row = e.length, .column = at.dilation},
                   .to = to + (at.zeros_before + first) / at.dilation * e.channels,
                   .to_steps = {.row = 1, .column = e.channels},
                   .rows = e.channels,
                   .columns = divided_up(e.length - first, at.dilation)});
    }
  }
  return lines;
}

}  // namespace

PackedConvolution::PackedConvolution(at::Tensor weight, const at::Tensor& bias, FilterPlaces places)
    : weight_(std::move(weight)),
      bias_(bias.defined() ? bias.contiguous() : bias),
      places_(places),
      product_(weight_.transpose(1, 2).reshape({weight_.size(0), -1}), bias_, Dtype::kFloat32) {}

bool PackedConvolution::takes(const at::Tensor& x) const {
  return x.scalar_type() == at::kFloat && x.device().is_cpu() && x.layout() == at::kStrided &&
         x.dim() == 3 && x.size(1) == weight_.size(1) && x.numel() > 0 &&
         places_.zeros_before + x.size(2) + places_.zeros_behind >
             places_.dilation * (weight_.size(2) - 1);
}

at::Tensor PackedConvolution::operator()(const at::Tensor& x, bool rectified) const {
  if (takes(x)) return convolved(x.contiguous(), rectified);
  const at::Tensor filled = at::constant_pad_nd(x, {places_.zeros_before, places_.zeros_behind});
  const at::Tensor y =
      at::conv1d(filled, weight_, bias_, places_.stride, at::IntArrayRef{0}, places_.dilation);
  return rectified ? at::relu(y) : y;
}

at::Tensor PackedConvolution::convolved(const at::Tensor& x, bool rectified) const {
  const Extents e(x, weight_, places_);
  // Channels beside each other, lines one behind the other: what lies under a filter is one piece
  // of memory, and a row of the product. Rows that reach into the next line are left out below.
  const at::Tensor lines = lines_of(x, e, places_);
  const int64_t rows = e.line / places_.stride;
  const at::Tensor under_filters =
      lines.as_strided({e.windows * places_.dilation * rows, e.samples * e.channels},
                       {places_.stride * e.channels, 1});
  const at::Tensor product = product_(under_filters, kernels::Epilogue::kStore);

  at::Tensor result = at::empty({e.windows, e.filters, e.places}, x.options());
  const auto* from = product.const_data_ptr<float>();
  auto* to = result.mutable_data_ptr<float>();
  for (int64_t window = 0; window < e.windows; ++window, to += e.filters * e.places) {
    for (int64_t phase = 0; phase < places_.dilation; ++phase, from += rows * e.filters) {
      const Copy back{.from = from,
                      .from_steps = {.row = e.filters, .column = 1},
                      .to = to + phase,
                      .to_steps = {.row = places_.dilation, .column = e.places},
                      .rows = divided_up(e.places - phase, places_.dilation),
                      .columns = e.filters};
      if (rectified) {
        copy<true>(back);
      } else {
        copy<false>(back);
      }
    }
  }
  return result;
}

}  // namespace backend
