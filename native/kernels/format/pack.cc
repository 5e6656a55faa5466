#include "format/pack.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "format/bfloat16.h"
#include "format/int8.h"
#include "format/widen.h"
#include "linear/tiling.h"

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

/// An output's weights, widened to float32: to[inputs].
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

/// Panels of [inputs / kGroup, panel_width, kGroup] numbers, all zeros until they are set.
template <class Number, int kGroup>
class GroupedPanels {
 public:
  GroupedPanels(const StoredWeight& weight, const Kernel& kernel)
      : width_(kernel.panel_width),
        size_(filled_up(weight.inputs, kernel.inputs_together) * width_) {
    const auto count = filled_up(weight.outputs, width_) / width_ * size_;
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
  int64_t size_;  ///< numbers of a panel
  PanelMemory memory_;
};

/// With which no weight is too large, nor are those together that meet in a lane of 16 bits. NaN
/// where a weight is not finite.
float scale_of(const std::vector<float>& weights) {
  const auto inputs = static_cast<int64_t>(weights.size());
  float most = kLeastScale * kMaxWeight;
  float most_in_lane = 0;
  float not_finite = 0;
  for (int64_t first = 0; first < inputs; first += kInputsTogether) {
    float lanes[kLanesOfGroup] = {};
    for (int64_t k = first; k < std::min(first + kInputsTogether, inputs); ++k) {
      const float size = std::abs(weights[static_cast<size_t>(k)]);
      most = std::max(most, size);
      not_finite += size * 0;
      lanes[k % kGroup * kLanesOfGroup / kGroup] += size;
    }
    most_in_lane = std::max({most_in_lane, lanes[0], lanes[1]});
  }
  // Rounding adds a half at most to each.
  constexpr int kRounding = kInputsTogether / kLanesOfGroup / 2;
  return std::max(most / kMaxWeight, most_in_lane / (kMaxInLane - kRounding)) + not_finite;
}

}  // namespace

PackedWeight pack_as_stored(const StoredWeight& weight, const Kernel& kernel) {
  const int64_t width = kernel.panel_width;
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

PackedWeight pack_bfloat16(const StoredWeight& weight, const Kernel& kernel) {
  GroupedPanels<uint16_t, kPair> panels(weight, kernel);
  std::vector<float> row(static_cast<size_t>(weight.inputs));
  for (int64_t output = 0; output < weight.outputs; ++output) {
    widen_output(weight, output, row.data());
    for (int64_t k = 0; k < weight.inputs; ++k) {
      // Not by an instruction: those count what is subnormal as 0 before they round.
      panels.set(output, k, round_to_bfloat16(row[static_cast<size_t>(k)]));
    }
  }
  return std::move(panels).take();
}

PackedWeight pack_int8(const StoredWeight& weight, const Kernel& kernel) {
  GroupedPanels<int8_t, kGroup> panels(weight, kernel);
  const auto padded = static_cast<size_t>(filled_up(weight.outputs, kernel.panel_width));
  std::vector<float> scales(padded), row(static_cast<size_t>(weight.inputs));
  std::vector<int32_t> sums(padded);
  for (int64_t output = 0; output < weight.outputs; ++output) {
    widen_output(weight, output, row.data());
    const float scale = scale_of(row);
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

}  // namespace kernels
