#include "matmul/pack.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "matmul/convert.h"
#include "matmul/int8.h"
#include "matmul/tiling.h"

namespace kernels {
namespace {

template <class Stored>
void pack(const StoredWeight& weight, Stored* panels, int64_t width) {
  const auto* const values = static_cast<const Stored*>(weight.values);
  const int64_t inputs = weight.inputs;
  for (int64_t first = 0; first < weight.outputs; first += width) {
    const int64_t count = std::min(width, weight.outputs - first);
    const Stored* rows = values + first * inputs;
    Stored* panel = panels + first * inputs;
    for (int64_t k = 0; k < inputs; ++k) {
      for (int64_t j = 0; j < count; ++j) panel[k * width + j] = rows[j * inputs + k];
      std::fill(panel + k * width + count, panel + (k + 1) * width, Stored{0});
    }
  }
}

/// Converts the weights of an output to float32. to: [inputs].
void widen_output(const StoredWeight& weight, int64_t output, float* to) {
  const int64_t inputs = weight.inputs;
  if (weight.storage == Storage::kFloat32) {
    std::copy_n(static_cast<const float*>(weight.values) + output * inputs, inputs, to);
    return;
  }
  const auto* const bits = static_cast<const uint16_t*>(weight.values) + output * inputs;
  std::transform(bits, bits + inputs, to,
                 weight.storage == Storage::kFloat16 ? widen_float16 : widen_bfloat16);
}

/// Panels of [inputs / kGroup, nr, kGroup] values, initially zero.
template <class Number, int kGroup>
class GroupedPanels {
 public:
  GroupedPanels(const StoredWeight& weight, const Kernel& kernel)
      : width_(kernel.nr), size_(round_up(weight.inputs, kernel.kr) * width_) {
    const auto count = round_up(weight.outputs, width_) / width_ * size_;
    memory_ = PanelMemory(static_cast<size_t>(count) * sizeof(Number));
  }

  void set(int64_t output, int64_t input, Number number) {
    auto* const panel = reinterpret_cast<Number*>(memory_.get()) + output / width_ * size_;
    panel[(input / kGroup * width_ + output % width_) * kGroup + input % kGroup] = number;
  }

  PackedWeight take() && {
    return {.panels = std::move(memory_),
            .panel_bytes = size_ * static_cast<int64_t>(sizeof(Number))};
  }

 private:
  int64_t width_;
  int64_t size_;  ///< values per panel
  PanelMemory memory_;
};

/// The smallest scale for which every quantized weight fits into 8 bits and the sum of absolute
/// weights in a 16-bit lane is range.max_in_lane at most. NaN if a weight is not finite.
float scale_of(const std::vector<float>& weights, const Int8Range& range) {
  const auto inputs = static_cast<int64_t>(weights.size());
  float max = kMinScale * kMaxWeight;
  float max_in_lane = 0;
  float not_finite = 0;
  for (int64_t first = 0; first < inputs; first += kInputsPerPartial) {
    float lanes[kLanesOfGroup] = {};
    for (int64_t k = first; k < std::min(first + kInputsPerPartial, inputs); ++k) {
      const float size = std::abs(weights[static_cast<size_t>(k)]);
      max = std::max(max, size);
      not_finite += size * 0;
      lanes[k % kGroup * kLanesOfGroup / kGroup] += size;
    }
    max_in_lane = std::max({max_in_lane, lanes[0], lanes[1]});
  }
  constexpr int kWeightsInLane = kInputsPerPartial / kLanesOfGroup;
  const float scale = max / kMaxWeight + not_finite;
  if (range.max_in_lane >= kWeightsInLane * kMaxWeight) return scale;
  // Rounding adds at most 0.5 to each weight.
  const int in_lane = range.max_in_lane - kWeightsInLane / 2;
  return std::max(scale, max_in_lane / static_cast<float>(in_lane) + not_finite);
}

PackedWeight pack_integers(const StoredWeight& weight, const Kernel& kernel,
                           const Int8Range& range) {
  GroupedPanels<int8_t, kGroup> panels(weight, kernel);
  const auto padded = static_cast<size_t>(round_up(weight.outputs, kernel.nr));
  std::vector<float> scales(padded), row(static_cast<size_t>(weight.inputs));
  std::vector<int32_t> sums(padded);
  for (int64_t output = 0; output < weight.outputs; ++output) {
    widen_output(weight, output, row.data());
    const float scale = scale_of(row, range);
    int32_t sum = 0;
    for (int64_t k = 0; k < weight.inputs; ++k) {
      const float size = scale > 0 ? row[static_cast<size_t>(k)] / scale : 0;
      const auto value = static_cast<int32_t>(std::nearbyint(size));
      panels.set(output, k, static_cast<int8_t>(value));
      sum += value;
    }
    scales[static_cast<size_t>(output)] = scale;
    sums[static_cast<size_t>(output)] = sum;
  }
  PackedWeight packed = std::move(panels).take();
  packed.scales = std::move(scales);
  packed.sums = std::move(sums);
  return packed;
}

}  // namespace

PackedWeight pack_b_as_stored(const StoredWeight& weight, const Kernel& kernel) {
  const int64_t width = kernel.nr;
  const int64_t panel_bytes = width * weight.inputs * (weight.storage == Storage::kFloat32 ? 4 : 2);
  const int64_t panels = ceil_divide(weight.outputs, width);
  PackedWeight packed{.panels = PanelMemory(static_cast<size_t>(panels * panel_bytes)),
                      .panel_bytes = panel_bytes};
  if (weight.storage == Storage::kFloat32) {
    pack(weight, reinterpret_cast<float*>(packed.panels.get()), width);
  } else {
    pack(weight, reinterpret_cast<uint16_t*>(packed.panels.get()), width);
  }
  return packed;
}

PackedWeight pack_b_bfloat16(const StoredWeight& weight, const Kernel& kernel) {
  GroupedPanels<uint16_t, kPair> panels(weight, kernel);
  std::vector<float> row(static_cast<size_t>(weight.inputs));
  for (int64_t output = 0; output < weight.outputs; ++output) {
    widen_output(weight, output, row.data());
    for (int64_t k = 0; k < weight.inputs; ++k) {
      // The rounding instruction would flush subnormal weights to 0.
      panels.set(output, k, round_to_bfloat16(row[static_cast<size_t>(k)]));
    }
  }
  return std::move(panels).take();
}

PackedWeight pack_b_int8(const StoredWeight& weight, const Kernel& kernel) {
  return pack_integers(weight, kernel, kSevenBits);
}

PackedWeight pack_b_int8_vnni(const StoredWeight& weight, const Kernel& kernel) {
  return pack_integers(weight, kernel, kEightBits);
}

}  // namespace kernels
