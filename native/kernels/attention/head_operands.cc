#include "attention/head_operands.h"

#include <algorithm>

namespace kernels {

void HeadMemory::multiply(int64_t rows, const RowOperand& a, const PanelOperand& panel, float* to,
                          int64_t to_stride) const {
  tiles_[rows - 1]({.a = a.values,
                    .a_stride = a.stride,
                    .panel = panel.values,
                    .inputs = panel.inputs,
                    .bias = panel.bias,
                    .c = to,
                    .c_stride = to_stride,
                    .prefetch = reinterpret_cast<const char*>(panel.values),
                    .prefetch_step = 0,
                    .row_scales = a.scales,
                    .scales = panel.scales,
                    .weight_sums = panel.first_sums,
                    .accumulates = panel.accumulates});
}

void HeadMemory::store_results(const QueryTile& tile, int64_t first, const float* results,
                               const float* sums) const {
  const int64_t nr = layout_.nr, count = std::min(nr, head_.head_size - first);
  for (int64_t i = 0; i < tile.rows; ++i) {
    const float factor = 1 / sums[i];
    float* const to = head_.result + (tile.first + i) * head_.result_stride + first;
    for (int64_t j = 0; j < count; ++j) to[j] = results[i * nr + j] * factor;
  }
}

}  // namespace kernels
