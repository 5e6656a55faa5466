#include <cmath>

#include "format/int8.h"
#include "format/pack.h"

namespace gemm {
namespace {

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

}  // namespace gemm
