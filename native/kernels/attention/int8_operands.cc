#include <algorithm>
#include <cstdint>

#include "attention/head_operands.h"

namespace kernels {
namespace {

/// Values have no zero point.
constexpr int32_t kNoSums[kMaxNr] = {};

}  // namespace

Int8Operands::Int8Operands(const Elementwise& elementwise, const FormatKernel& by,
                           const AttentionHead& head, float* memory)
    : HeadMemory(elementwise, by, head, memory) {
  pack_keys();
  pack_values();
}

/// Whether the mean of the keys is subtracted. Products of the mean with query position vectors are
/// added by key_vectors().
bool Int8Operands::has_mean() const {
  const PackedPositions* const positions = this->positions();
  return positions == nullptr || !positions->queries || positions->keys;
}

void Int8Operands::pack_keys() const {
  const PackedPositions* const positions = this->positions();
  float* const mean = floats(layout_.mean);
  if (has_mean()) {
    functions().mean_of_rows(head_.key, head_.key_value_stride, head_.tokens, head_.head_size,
                             mean);
  }
  functions().pack_keys({.from = head_.key,
                         .stride = head_.key_value_stride,
                         .count = head_.tokens,
                         .head_size = head_.head_size,
                         .scale = head_.scale,
                         .mean = has_mean() ? mean : nullptr,
                         .inputs = layout_.inputs,
                         .to = reinterpret_cast<int8_t*>(value_at(layout_.keys, 0)),
                         .scales = floats(layout_.key_scales),
                         .first_sums = reinterpret_cast<int32_t*>(floats(layout_.key_sums))});
  if (positions == nullptr || !positions->query_floats || !positions->keys) return;
  for (int64_t i = 0; i < head_.head_size; ++i) mean[i] *= head_.scale;
  const auto rows = static_cast<int64_t>(positions->index->table_rows().size());
  float* const products = floats(layout_.mean_products);
  functions().multiply_rows(positions->query_floats.get(), rows, head_.head_size, mean, products);
  std::fill(products + rows, products + round_up(rows, layout_.nr), 0.0F);
}

void Int8Operands::pack_values() const {
  functions().pack_values({.from = head_.value,
                           .stride = head_.key_value_stride,
                           .tokens = head_.tokens,
                           .head_size = head_.head_size,
                           .padded = layout_.value_inputs,
                           .to = reinterpret_cast<int8_t*>(value_at(layout_.values, 0)),
                           .scales = floats(layout_.value_scales)});
}

RowOperand Int8Operands::queries_of(const QueryTile& tile) const {
  const RowsToPack rows{.from = head_.query + tile.first * head_.query_stride,
                        .stride = head_.query_stride,
                        .rows = tile.rows,
                        .count = head_.head_size,
                        .to = value_at(layout_.queries, 0),
                        .to_stride = layout_.query_stride,
                        .padded = layout_.inputs,
                        .scales = row_scales(layout_.query_scales)};
  functions().pack_queries(rows);
  return {.values = rows.to, .stride = rows.to_stride, .scales = rows.scales};
}

PanelOperand Int8Operands::key_vectors(const PackedPositions& positions, int64_t row) const {
  return {.values = positions.keys.get() + row * layout_.inputs,
          .inputs = layout_.inputs,
          .scales = positions.key_scales.get() + row,
          .first_sums = positions.key_sums.get() + row,
          .bias = positions.queries ? floats(layout_.mean_products) + row : kNoBias};
}

/// Sinks of the queries, less the product of the query and the mean of the keys, which is missing
/// in the scores as well. sinks: [rows].
void Int8Operands::sinks_of(const QueryTile& tile, float* sinks) const {
  std::fill_n(sinks, tile.rows, head_.sink);
  if (!has_mean()) return;
  // With positions, pack_keys() has multiplied the mean by the scale.
  const PackedPositions* const positions = this->positions();
  const bool is_scaled = positions != nullptr && positions->query_floats && positions->keys;
  for (int64_t i = 0; i < tile.rows; ++i) {
    float product;
    functions().multiply_rows(head_.query + (tile.first + i) * head_.query_stride, 1,
                              head_.head_size, floats(layout_.mean), &product);
    sinks[i] -= is_scaled ? product : product * head_.scale;
  }
}

void Int8Operands::compute_results(const QueryTile& tile) const {
  const int64_t nr = layout_.nr;
  float sinks[kMaxMr], sums[kMaxMr];
  if (has_sink()) sinks_of(tile, sinks);
  auto* const weights = reinterpret_cast<uint8_t*>(value_at(layout_.weights, 0));
  RowScale* const scales = row_scales(layout_.weight_scales);
  functions().pack_exponentials({.scores = scores(),
                                 .stride = layout_.tokens,
                                 .rows = tile.rows,
                                 .count = tile.padded,
                                 .to = weights,
                                 .to_stride = layout_.tokens,
                                 .scales = scales,
                                 .sinks = has_sink() ? sinks : nullptr,
                                 .sums = sums});
  const int64_t count = tile.end - tile.start;
  for (int64_t first = 0; first < head_.head_size; first += nr) {
    float results[kMaxMr * kMaxNr];
    for (int64_t token = 0; token < count; token += kBlockTokens) {
      const int64_t value = first * layout_.value_inputs + (tile.start + token) * nr;
      const int64_t inputs = std::min(kBlockTokens, round_up(count - token, kernel_.kr));
      multiply(tile.rows,
               {.values = weights + token,
                .stride = layout_.tokens,
                .scales = scales + token / kBlockTokens * kMaxMr},
               {.values = value_at(layout_.values, value),
                .inputs = inputs,
                .scales = floats(layout_.value_scales) + first,
                .first_sums = kNoSums,
                .accumulates = token > 0},
               results, nr);
    }
    store_results(tile, first, results, sums);
  }
}

}  // namespace kernels
