#include <algorithm>
#include <cstdint>

#include "attention/head_operands.h"

namespace kernels {

FloatOperands::FloatOperands(const Elementwise& elementwise, const FormatKernel& by,
                             const AttentionHead& head, float* memory)
    : HeadMemory(elementwise, by, head, memory) {
  const auto pack = [&](auto pack_floats, int64_t inputs, int64_t padded, int64_t panels,
                        int64_t offset) {
    pack_floats(head, memory + (layout_.needs_packing ? layout_.stored : offset));
    if (layout_.needs_packing) round_panels(inputs, padded, panels, offset);
  };
  pack(elementwise.pack_keys, head.head_size, layout_.inputs, layout_.tokens / layout_.nr,
       layout_.keys);
  pack(elementwise.pack_values, head.tokens, layout_.value_inputs, layout_.head_panels,
       layout_.values);
}

/// Rounds the float32 panels in layout_.stored.
void FloatOperands::round_panels(int64_t inputs, int64_t padded, int64_t panels,
                                 int64_t offset) const {
  const int64_t nr = layout_.nr;
  for (int64_t panel = 0; panel < panels; ++panel) {
    std::byte* const to = value_at(offset, panel * padded * nr);
    kernel_.pack_b_block({.from = memory_ + layout_.stored + panel * inputs * nr,
                          .inputs = inputs,
                          .padded = padded,
                          .to = reinterpret_cast<uint16_t*>(to)});
  }
}

/// Packs rows of a left operand. Returns the rows themselves if the kernel multiplies float32.
RowOperand FloatOperands::pack_a(const RowsToPack& rows) const {
  if (!layout_.needs_packing) return {.values = rows.from, .stride = rows.stride};
  kernel_.pack_a(rows);
  return {.values = rows.to, .stride = rows.to_stride};
}

RowOperand FloatOperands::queries_of(const QueryTile& tile) const {
  return pack_a({.from = head_.query + tile.first * head_.query_stride,
                 .stride = head_.query_stride,
                 .rows = tile.rows,
                 .count = head_.head_size,
                 .to = value_at(layout_.queries, 0),
                 .to_stride = layout_.query_stride,
                 .padded = layout_.inputs});
}

PanelOperand FloatOperands::key_vectors(const PackedPositions& positions, int64_t row) const {
  return {.values = positions.keys.get() + row * layout_.inputs * kernel_.value_bytes,
          .inputs = layout_.inputs};
}

/// Softmax numerators of the scores. sinks: [rows], or null; sums: [rows], row sums.
RowOperand FloatOperands::exponentials_of(const QueryTile& tile, const float* sinks,
                                          float* sums) const {
  const RowsToPack rows{.from = scores(),
                        .stride = layout_.tokens,
                        .rows = tile.rows,
                        .count = tile.padded,
                        .to = value_at(layout_.weights, 0),
                        .to_stride = layout_.tokens,
                        .padded = tile.padded};
  if (kernel_.pack_exponentials != nullptr) {
    kernel_.pack_exponentials(rows, sinks, sums);
    return {.values = rows.to, .stride = rows.to_stride};
  }
  elementwise_.exponentials(scores(), tile.rows, layout_.tokens, tile.padded, sinks, sums);
  return pack_a(rows);
}

void FloatOperands::compute_results(const QueryTile& tile) const {
  const int64_t nr = layout_.nr;
  float sinks[kMaxMr], sums[kMaxMr];
  std::fill_n(sinks, kMaxMr, head_.sink);
  const RowOperand weights = exponentials_of(tile, has_sink() ? sinks : nullptr, sums);
  for (int64_t first = 0; first < head_.head_size; first += nr) {
    float results[kMaxMr * kMaxNr];
    const int64_t value = first * layout_.value_inputs + tile.start * nr;
    multiply(tile.rows, weights,
             {.values = value_at(layout_.values, value),
              .inputs = layout_.needs_packing ? tile.padded : tile.end - tile.start},
             results, nr);
    store_results(tile, first, results, sums);
  }
}

}  // namespace kernels
