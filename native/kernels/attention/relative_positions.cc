#include <algorithm>
#include <cstring>
#include <utility>

#include "attention/head_attention.h"
#include "attention/head_layout.h"
#include "kernels/attention.h"

namespace kernels {
namespace {

/// Packs key position vectors like the keys of `count` tokens.
AlignedArray<std::byte> pack_key_vectors(const Elementwise& elementwise, const FormatKernel& by,
                                         const PositionVectors& vectors, int64_t count) {
  const Kernel& kernel = *by.kernel;
  const KeyLayout layout(by, vectors.head_size);
  const int64_t panels = ceil_divide(count, layout.nr);
  const int64_t stored = layout.nr * vectors.head_size;
  auto floats = make_aligned<std::byte>(static_cast<size_t>(panels * stored) * sizeof(float));
  auto* const from = reinterpret_cast<float*>(floats.get());
  elementwise.pack_keys({.query = nullptr,
                         .queries = 0,
                         .query_stride = 0,
                         .key = vectors.keys,
                         .value = nullptr,
                         .tokens = count,
                         .key_value_stride = vectors.stride,
                         .head_size = vectors.head_size,
                         .scale = vectors.scale,
                         .window = 0,
                         .bias = nullptr,
                         .bias_stride = 0,
                         .positions = nullptr,
                         .result = nullptr,
                         .result_stride = 0},
                        from);
  if (!layout.needs_packing) return floats;
  const int64_t panel_bytes = layout.inputs * layout.nr * kernel.value_bytes;
  auto rounded = make_aligned<std::byte>(static_cast<size_t>(panels * panel_bytes));
  for (int64_t panel = 0; panel < panels; ++panel) {
    kernel.pack_b_block({.from = from + panel * stored,
                         .inputs = vectors.head_size,
                         .padded = layout.inputs,
                         .to = reinterpret_cast<uint16_t*>(rounded.get() + panel * panel_bytes)});
  }
  return rounded;
}

/// Packs query position vectors like the queries of `count` tokens.
AlignedArray<std::byte> pack_query_vectors(const FormatKernel& by, const PositionVectors& vectors,
                                           int64_t count) {
  const KeyLayout layout(by, vectors.head_size);
  const int64_t row = layout.query_stride;
  auto rows = make_aligned<std::byte>(static_cast<size_t>(count * row * by.kernel->value_bytes));
  if (layout.needs_packing) {
    by.kernel->pack_a({.from = vectors.queries,
                       .stride = vectors.stride,
                       .rows = count,
                       .count = vectors.head_size,
                       .to = rows.get(),
                       .to_stride = row,
                       .padded = layout.inputs});
    return rows;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(rows.get() + i * row * by.kernel->value_bytes, vectors.queries + i * vectors.stride,
                static_cast<size_t>(row * by.kernel->value_bytes));
  }
  return rows;
}

/// Packs the vectors for int8, see int8_kernel.h.
void pack_int8_vectors(const FormatKernel& by, const PositionVectors& vectors, int64_t count,
                       PackedPositions& packed) {
  const Int8Attention& functions = *by.kernel->int8_attention;
  const KeyLayout layout(by, vectors.head_size);
  if (vectors.keys != nullptr) {
    const auto padded = static_cast<size_t>(round_up(count, layout.nr));
    packed.keys = make_aligned<std::byte>(padded * static_cast<size_t>(layout.inputs));
    packed.key_scales = make_aligned<float>(padded);
    packed.key_sums = make_aligned<int32_t>(padded);
    functions.pack_keys({.from = vectors.keys,
                         .stride = vectors.stride,
                         .count = count,
                         .head_size = vectors.head_size,
                         .scale = vectors.scale,
                         .mean = nullptr,
                         .inputs = layout.inputs,
                         .to = reinterpret_cast<int8_t*>(packed.keys.get()),
                         .scales = packed.key_scales.get(),
                         .first_sums = packed.key_sums.get()});
  }
  if (vectors.queries == nullptr) return;
  packed.queries = make_aligned<std::byte>(static_cast<size_t>(count * layout.query_stride));
  packed.query_scales = make_aligned<RowScale>(static_cast<size_t>(count));
  functions.pack_queries({.from = vectors.queries,
                          .stride = vectors.stride,
                          .rows = count,
                          .count = vectors.head_size,
                          .to = packed.queries.get(),
                          .to_stride = layout.query_stride,
                          .padded = layout.inputs,
                          .scales = packed.query_scales.get()});
  packed.query_floats = make_aligned<float>(static_cast<size_t>(count * vectors.head_size));
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(vectors.queries + i * vectors.stride, vectors.head_size,
                packed.query_floats.get() + i * vectors.head_size);
  }
}

}  // namespace

RelativePositionIndex::RelativePositionIndex(std::span<const int64_t> table_rows)
    : max_tokens_(static_cast<int64_t>(table_rows.size() + 1) / 2) {
  rows_.reserve(table_rows.size() + kMaxNr);
  for (const int64_t row : table_rows) {
    if (table_rows_.empty() || table_rows_.back() != row) table_rows_.push_back(row);
    rows_.push_back(static_cast<int32_t>(table_rows_.size()) - 1);
  }
  // Padded columns of a panel read them.
  rows_.resize(rows_.size() + kMaxNr, rows_.back());
}

HeadPositions::HeadPositions(Format format, const PositionVectors& vectors) {
  packed_.push_back(best_attention(Format::kFloat32).pack(vectors));
  const HeadAttention best = best_attention(format);
  if (best.by().kernel != packed_.front().kernel) packed_.push_back(best.pack(vectors));
}

HeadPositions::HeadPositions(PackedPositions packed) { packed_.push_back(std::move(packed)); }

const PackedPositions& HeadPositions::packed_for(const FormatKernel& by) const {
  const PackedPositions& first = packed_.front();
  return first.format == by.format && first.kernel == by.kernel ? first : packed_.back();
}

PackedPositions HeadAttention::pack(const PositionVectors& vectors) const {
  const auto count = static_cast<int64_t>(vectors.index->table_rows().size());
  const KeyLayout layout(by_, vectors.head_size);
  PackedPositions packed{.format = by_.format,
                         .kernel = by_.kernel,
                         .index = vectors.index,
                         .keys = nullptr,
                         .queries = nullptr,
                         .query_bytes = layout.query_stride * by_.kernel->value_bytes};
  if (layout.is_int8) {
    pack_int8_vectors(by_, vectors, count, packed);
    return packed;
  }
  if (vectors.keys != nullptr) {
    packed.keys = pack_key_vectors(*elementwise_, by_, vectors, count);
  }
  if (vectors.queries != nullptr) packed.queries = pack_query_vectors(by_, vectors, count);
  return packed;
}

}  // namespace kernels
