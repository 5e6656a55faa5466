#include "packed/pooling.h"

#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/max_pool2d.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/elementwise.h"
#include "packed/operator_arguments.h"
#include "packed/parallel_for.h"

namespace backend {
namespace {

/// A row that grows by vectors: kernels read and write up to two vectors beyond its end.
constexpr int64_t kBeyond = 32;

/// Pools one plane at a time.
class PlanePooling {
 public:
  PlanePooling(Pooling::Kind kind, const ConvolutionAxis& rows, const ConvolutionAxis& samples)
      : is_maximum_(kind == Pooling::Kind::kMaximum),
        rows_(rows),
        samples_(samples),
        row_(static_cast<size_t>(samples.padded() + kBeyond)),
        result_(row_.size()) {}

  void operator()(const float* x, float* y) {
    for (int64_t row = 0; row < rows_.output(); ++row, y += samples_.output()) {
      read_rows(x, row * rows_.geometry.stride - rows_.geometry.padding_before);
      pool_samples();
      const auto taps = static_cast<float>(rows_.taps * samples_.taps);
      for (int64_t i = 0; i < samples_.output(); ++i) {
        const float value = result_[static_cast<size_t>(i * samples_.geometry.stride)];
        y[i] = is_maximum_ ? value : value / taps;
      }
    }
  }

 private:
  void combine(float* to, const float* from, int64_t count) const {
    if (is_maximum_) {
      kernels::maximum_in_vectors(to, from, count);
    } else {
      kernels::add_in_vectors(to, from, count);
    }
  }

  /// Combines the rows from `first` on into row_, with padding.
  void read_rows(const float* x, int64_t first) {
    const float padding = is_maximum_ ? -std::numeric_limits<float>::infinity() : 0.0F;
    std::ranges::fill(row_, padding);
    float* const to = row_.data() + samples_.geometry.padding_before;
    const int64_t start = std::max<int64_t>(first, 0);
    const int64_t end = std::min(first + rows_.taps, rows_.length);
    for (int64_t row = start; row < end; ++row) {
      const float* const from = x + row * samples_.length;
      if (row == start) {
        std::copy_n(from, samples_.length, to);
        continue;
      }
      const int64_t whole = samples_.length / kernels::kMaxVector * kernels::kMaxVector;
      combine(to, from, whole);
      for (int64_t i = whole; i < samples_.length; ++i) {
        to[i] = is_maximum_ ? maximum(to[i], from[i]) : to[i] + from[i];
      }
    }
  }

  static float maximum(float a, float b) { return a != a || a > b ? a : b; }

  /// Combines each sample of row_ with its successors into result_. row_ doubles its number of
  /// combined samples with each bit of the number of taps.
  void pool_samples() {
    int64_t combined = 0;  // samples in result_
    for (int64_t size = 1; size <= samples_.taps; size *= 2) {
      const int64_t count = samples_.padded() - combined;
      if (samples_.taps / size % 2 == 1) {  // the bit is set
        if (combined == 0) {
          std::ranges::copy(row_, result_.begin());
        } else {
          combine(result_.data(), row_.data() + combined, count);
        }
        combined += size;
      }
      if (2 * size <= samples_.taps)
        combine(row_.data(), row_.data() + size, samples_.padded() - size);
    }
  }

  bool is_maximum_;
  ConvolutionAxis rows_, samples_;
  std::vector<float> row_;
  std::vector<float> result_;
};

}  // namespace

Pooling::Pooling(Kind kind, std::vector<int64_t> taps, std::vector<ConvolutionGeometry> geometry)
    : kind_(kind), taps_(std::move(taps)), geometry_(std::move(geometry)) {}

bool Pooling::accepts(const at::Tensor& x) const {
  if (x.scalar_type() != at::kFloat || !x.device().is_cpu() || x.layout() != at::kStrided ||
      x.dim() != static_cast<int64_t>(taps_.size()) + 2 || x.numel() == 0) {
    return false;
  }
  for (size_t i = 0; i < taps_.size(); ++i) {
    const int64_t length = x.size(static_cast<int64_t>(i) + 2);
    const int64_t padding = geometry_[i].padding_before;
    // More padding than samples would need more memory than the input.
    if (padding > length || length + 2 * padding < taps_[i]) return false;
  }
  return true;
}

at::Tensor Pooling::operator()(const at::Tensor& x) const {
  if (!accepts(x)) return by_libtorch(x);
  std::vector<ConvolutionAxis> axes;
  std::vector<int64_t> sizes{x.size(0), x.size(1)};
  for (size_t i = 0; i < taps_.size(); ++i) {
    const ConvolutionAxis& axis =
        axes.emplace_back(ConvolutionAxis{.geometry = geometry_[i],
                                          .length = x.size(static_cast<int64_t>(i) + 2),
                                          .taps = taps_[i],
                                          .pitch = 1});
    sizes.push_back(axis.output());
  }
  ConvolutionAxis rows = axes.size() == 1 ? kOneRow : axes.front(), samples = axes.back();
  // With one sample in a row, the rows are contiguous samples.
  if (samples.length == 1 && samples.is_pointwise()) std::swap(rows, samples);
  const at::Tensor input = x.contiguous();
  at::Tensor y = at::empty(sizes, x.options());
  const auto* const from = input.const_data_ptr<float>();
  auto* const to = y.mutable_data_ptr<float>();
  const int64_t from_size = rows.length * samples.length;
  const int64_t to_size = rows.output() * samples.output();
  parallel_for_rows(x.size(0) * x.size(1), from_size, [&](int64_t first, int64_t count) {
    PlanePooling pool(kind_, rows, samples);
    for (int64_t plane = first; plane < first + count; ++plane) {
      pool(from + plane * from_size, to + plane * to_size);
    }
  });
  return y;
}

at::Tensor Pooling::by_libtorch(const at::Tensor& x) const {
  std::vector<int64_t> strides, paddings;
  for (const ConvolutionGeometry& each : geometry_) {
    strides.push_back(each.stride);
    paddings.push_back(each.padding_before);
  }
  if (kind_ == Kind::kMaximum) {
    return taps_.size() == 1 ? at::max_pool1d(x, taps_, strides, paddings)
                             : at::max_pool2d(x, taps_, strides, paddings);
  }
  return taps_.size() == 1 ? at::avg_pool1d(x, taps_, strides, paddings)
                           : at::avg_pool2d(x, taps_, strides, paddings);
}

// ---- Conversion of ATen's pooling operators ----

namespace {

/// kernel_size, stride and padding are the arguments 1 to 3 of each operator.
struct Signature {
  std::string_view name;
  Pooling::Kind kind;
  size_t dimensions, arguments, ceil_mode;
};

constexpr Signature kSignatures[] = {{"aten::max_pool1d", Pooling::Kind::kMaximum, 1, 6, 5},
                                     {"aten::max_pool2d", Pooling::Kind::kMaximum, 2, 6, 5},
                                     {"aten::avg_pool1d", Pooling::Kind::kAverage, 1, 6, 4},
                                     {"aten::avg_pool2d", Pooling::Kind::kAverage, 2, 7, 4}};

bool is_bool(const c10::IValue& value, bool expected) {
  return value.isBool() && value.toBool() == expected;
}

/// True if all other arguments have their default: no dilation; padding counts, and the divisor is
/// the number of taps.
bool has_defaults(const Signature& signature, std::span<const c10::IValue> arguments) {
  if (signature.kind == Pooling::Kind::kMaximum) {
    const auto dilations = numbers_of(arguments[4], 1, signature.dimensions);
    return dilations && std::ranges::all_of(*dilations, [](int64_t each) { return each == 1; });
  }
  return is_bool(arguments[5], true) && (arguments.size() == 6 || arguments[6].isNone());
}

}  // namespace

std::shared_ptr<const Pooling> pooling(std::string_view name,
                                       std::span<const c10::IValue> arguments) {
  const auto* const signature = std::ranges::find(kSignatures, name, &Signature::name);
  if (signature == std::end(kSignatures) || arguments.size() != signature->arguments)
    return nullptr;
  if (!is_bool(arguments[signature->ceil_mode], false)) return nullptr;
  const auto taps = numbers_of(arguments[1], 1, signature->dimensions);
  // An empty list: the stride is the number of taps.
  const bool is_empty = arguments[2].isIntList() && arguments[2].toIntVector().empty();
  const auto strides = is_empty ? taps : numbers_of(arguments[2], 1, signature->dimensions);
  const auto paddings = numbers_of(arguments[3], 0, signature->dimensions);
  if (!taps || !strides || !paddings || !has_defaults(*signature, arguments)) return nullptr;
  std::vector<ConvolutionGeometry> geometry;
  for (size_t i = 0; i < taps->size(); ++i) {
    const int64_t padding = (*paddings)[i];
    if (2 * padding > (*taps)[i]) return nullptr;  // LibTorch throws its error
    geometry.push_back(
        {.stride = (*strides)[i], .padding_before = padding, .padding_after = padding});
  }
  return std::make_shared<const Pooling>(signature->kind, *taps, std::move(geometry));
}

}  // namespace backend
