// Memory layout of the input of a convolution.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace backend {

/// Stride, dilation and padding of a convolution in one dimension.
struct ConvolutionGeometry {
  int64_t stride = 1;
  int64_t dilation = 1;  ///< samples between neighboring filter taps
  int64_t padding_before = 0;
  int64_t padding_after = 0;
};

/// One dimension of a call.
struct ConvolutionAxis {
  ConvolutionGeometry geometry;
  int64_t length;  ///< of the input
  int64_t taps;    ///< of a filter
  int64_t pitch;   ///< distance of neighboring samples of the input, in floats

  int64_t padded() const { return geometry.padding_before + length + geometry.padding_after; }
  /// Length of the result; 0 or less if a filter does not fit.
  int64_t output() const {
    return (padded() - geometry.dilation * (taps - 1) - 1) / geometry.stride + 1;
  }
  bool is_padded() const { return padded() != length; }
  /// True if the dimension keeps its length, and each result depends on one sample.
  bool is_pointwise() const { return taps == 1 && geometry.stride == 1 && !is_padded(); }
};

/// The rows of an input with one dimension.
inline constexpr ConvolutionAxis kOneRow{.geometry = {}, .length = 1, .taps = 1, .pitch = 0};

/// Planes of a window, one for each channel: rows of samples in which a filter tap reads contiguous
/// samples. Samples are a dimension of the input, or both if rows are adjacent.
class Planes {
 public:
  /// Axes of an input [windows, channels, rows, samples].
  Planes(ConvolutionAxis rows, ConvolutionAxis samples);

  int64_t output_rows() const { return rows_.output(); }
  int64_t output_samples() const { return samples_.output(); }
  /// True if the rows of the planes are the last dimension of the input.
  bool is_transposed() const { return is_transposed_; }

  /// True if filters cannot read the input itself.
  bool needs_copy() const { return needs_copy_; }
  /// Zero-padded planes of x, contiguous [windows, channels, rows, samples].
  at::Tensor copied(const at::Tensor& x) const;

  /// Distance from channel to channel, in floats.
  int64_t channel_pitch() const { return row_pitch_ * plane_rows(); }
  /// Distance of the samples of neighboring output rows, in floats.
  int64_t output_row_pitch() const { return row_pitch_ * rows_.geometry.stride; }
  /// Offsets of the filter taps [channels, rows, samples], in the order of the input's dimensions.
  std::vector<int64_t> tap_offsets(int64_t channels) const;

 private:
  int64_t plane_rows() const { return needs_copy_ ? rows_.padded() : rows_.length; }
  void copy_row(const float* from, float* to) const;
  void copy_plane(const float* from, float* to) const;

  ConvolutionAxis rows_, samples_;
  bool is_transposed_ = false;
  bool needs_copy_;
  /// Every stride-th sample of a row is adjacent: a row has as many parts as the stride.
  int64_t part_length_;
  int64_t row_pitch_;
};

}  // namespace backend
