// Weights laid out in panels, once.
#pragma once

#include <algorithm>
#include <utility>

#include "format/kernel.h"
#include "linear/tiling.h"

namespace gemm {

inline int64_t bytes_of(Storage storage) { return storage == Storage::kFloat32 ? 4 : 2; }

/// In the type they have: [inputs, panel_width] each.
PackedWeight pack_as_stored(const StoredWeight& weight, const Kernel& kernel);

/// Rounded: [inputs / 2, panel_width, 2] each, inputs filled up with zeros.
PackedWeight pack_bfloat16(const StoredWeight& weight, const Kernel& kernel);

/// [inputs / 4, panel_width, 4] each, filled up in the same way.
PackedWeight pack_int8(const StoredWeight& weight, const Kernel& kernel);

/// An output's weights, widened to float32: to[inputs].
void widen_output(const StoredWeight& weight, int64_t output, float* to);

/// Panels of [inputs / kGroup, panel_width, kGroup] numbers, all zeros until they are set.
template <class Number, int kGroup>
class GroupedPanels {
 public:
  GroupedPanels(const StoredWeight& weight, const Kernel& kernel)
      : width_(kernel.panel_width),
        size_(filled_up(weight.inputs, kernel.inputs_together) * width_) {
    const auto count = filled_up(weight.outputs, width_) / width_ * size_;
    memory_ = make_aligned<std::byte>(static_cast<size_t>(count) * sizeof(Number));
    std::fill_n(reinterpret_cast<Number*>(memory_.get()), count, Number{0});
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
  AlignedArray<std::byte> memory_;
};

}  // namespace gemm
