#include "packed/planes.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "kernels/convolution.h"
#include "packed/parallel_for.h"

namespace backend {
namespace {

int64_t ceil_div(int64_t number, int64_t by) { return (number + by - 1) / by; }

/// Rows as samples, if each sample of a row is computed alone: filters over rows skip whole rows.
ConvolutionAxis joined(const ConvolutionAxis& rows, int64_t samples) {
  return {.geometry = {.stride = 1,
                       .dilation = rows.geometry.dilation * samples,
                       .padding_before = rows.geometry.padding_before * samples,
                       .padding_after = rows.geometry.padding_after * samples},
          .length = rows.length * samples,
          .taps = rows.taps,
          .pitch = 1};
}

}  // namespace

Planes::Planes(ConvolutionAxis rows, ConvolutionAxis samples) : rows_(rows), samples_(samples) {
  if (samples.is_pointwise() && rows.geometry.stride == 1) {
    samples_ = joined(rows, samples.length);
    rows_ = kOneRow;
  } else if (samples.output() < kernels::kFilterSamples && rows.output() > samples.output()) {
    std::swap(rows_, samples_);
    is_transposed_ = true;
  }
  const int64_t stride = samples_.geometry.stride;
  const bool is_adjacent = stride == 1 && (samples_.pitch == 1 || samples_.length == 1);
  needs_copy_ = rows_.is_padded() || samples_.is_padded() || !is_adjacent ||
                samples_.output() < kernels::kFilterSamples;
  part_length_ = needs_copy_ ? ceil_div(samples_.padded(), stride) : samples_.length;
  row_pitch_ = part_length_ * stride;
}

/// Copies a row, zero-padded. Sample i of the padded row has index i / stride in the part
/// i % stride.
void Planes::copy_row(const float* from, float* to) const {
  const int64_t stride = samples_.geometry.stride, before = samples_.geometry.padding_before;
  if (stride == 1 && samples_.pitch == 1) {
    std::fill_n(to, before, 0.0F);
    std::copy_n(from, samples_.length, to + before);
    std::fill_n(to + before + samples_.length, samples_.geometry.padding_after, 0.0F);
    return;
  }
  std::fill_n(to, row_pitch_, 0.0F);
  int64_t index = before / stride, part = before % stride;
  for (int64_t i = 0; i < samples_.length; ++i) {
    to[part * part_length_ + index] = from[i * samples_.pitch];
    if (++part == stride) {
      part = 0;
      ++index;
    }
  }
}

void Planes::copy_plane(const float* from, float* to) const {
  const int64_t before = rows_.geometry.padding_before;
  std::fill_n(to, before * row_pitch_, 0.0F);
  to += before * row_pitch_;
  for (int64_t row = 0; row < rows_.length; ++row, to += row_pitch_) {
    copy_row(from + row * rows_.pitch, to);
  }
  std::fill_n(to, rows_.geometry.padding_after * row_pitch_, 0.0F);
}

at::Tensor Planes::copied(const at::Tensor& x) const {
  const int64_t planes = x.size(0) * x.size(1);
  // One more row, because filters read whole vectors. The sizes are separate, so that LibTorch
  // detects an overflow of their product.
  at::Tensor copy = at::empty(
      {planes + ceil_div(kernels::kFilterSamples, channel_pitch()), plane_rows(), row_pitch_},
      x.options());
  const auto* const from = x.const_data_ptr<float>();
  auto* const to = copy.mutable_data_ptr<float>();
  const int64_t size = rows_.length * samples_.length, pitch = channel_pitch();
  parallel_for_rows(planes, pitch, [&](int64_t first, int64_t count) {
    for (int64_t plane = first; plane < first + count; ++plane) {
      copy_plane(from + plane * size, to + plane * pitch);
    }
  });
  std::fill_n(to + planes * pitch, copy.numel() - planes * pitch, 0.0F);
  return copy;
}

std::vector<int64_t> Planes::tap_offsets(int64_t channels) const {
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(channels * rows_.taps * samples_.taps));
  const auto offset = [&](int64_t channel, int64_t row, int64_t sample) {
    const int64_t at = sample * samples_.geometry.dilation, stride = samples_.geometry.stride;
    return channel * channel_pitch() + row * rows_.geometry.dilation * row_pitch_ +
           at % stride * part_length_ + at / stride;
  };
  for (int64_t channel = 0; channel < channels; ++channel) {
    const int64_t outer = is_transposed_ ? samples_.taps : rows_.taps;
    const int64_t inner = is_transposed_ ? rows_.taps : samples_.taps;
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t j = 0; j < inner; ++j) {
        offsets.push_back(is_transposed_ ? offset(channel, j, i) : offset(channel, i, j));
      }
    }
  }
  return offsets;
}

}  // namespace backend
