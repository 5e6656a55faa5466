#include "attention/head_products.h"

#include <algorithm>

namespace gemm {
namespace {

/// Of a product's tile.
constexpr float kNoBias[kWidestPanel] = {};

}  // namespace

HeadLayout::HeadLayout(const FormatKernel& by, int64_t token_count, int64_t head_size)
    : is_rounded(by.kernel->round_rows != nullptr),
      width(by.kernel->panel_width),
      parts(std::max(1, by.format->parts)),
      tokens(filled_up(token_count, width)),
      key_inputs(filled_up(head_size, by.kernel->inputs_together)),
      value_inputs(is_rounded ? tokens : token_count),
      head_panels(ceil_divide(head_size, width)),
      query_stride(0),
      weight_stride(0),
      rows(by.kernel->tile_rows),
      size(0) {
  const auto take_floats = [this](int64_t count) {
    const int64_t start = size;
    size += filled_up(count, kLineFloats);
    return start;
  };
  const auto take = [&](int64_t count) {
    return take_floats(
        ceil_divide(parts * count * by.kernel->value_bytes, static_cast<int64_t>(sizeof(float))));
  };
  if (is_rounded) {
    const int together = by.kernel->inputs_together, step = by.kernel->row_step;
    query_stride = row_stride(key_inputs, together, step);
    weight_stride = row_stride(tokens, together, step);
    stored = take_floats(std::max(tokens * head_size, head_panels * width * token_count));
  }
  scores = take_floats(rows * tokens);
  keys = take(tokens * key_inputs);
  values = take(head_panels * width * value_inputs);
  queries = take(rows * query_stride);
  weights = take(rows * weight_stride);
}

HeadProducts::HeadProducts(const Elementwise& elementwise, const FormatKernel& by,
                           const HeadLayout& layout, const AttentionHead& head, float* memory)
    : kernel_(by.kernel), layout_(&layout), head_(&head), memory_(memory) {
  const auto lay_out = [&](auto pack, int64_t inputs, int64_t filled, int64_t panels,
                           int64_t piece) {
    pack(head, memory + (layout.is_rounded ? layout.stored : piece));
    if (layout.is_rounded) round_panels(inputs, filled, panels, piece);
  };
  lay_out(elementwise.pack_keys, head.head_size, layout.key_inputs, layout.tokens / layout.width,
          layout.keys);
  lay_out(elementwise.pack_values, head.tokens, layout.value_inputs, layout.head_panels,
          layout.values);
}

/// Of what is stored.
void HeadProducts::round_panels(int64_t inputs, int64_t filled, int64_t panels,
                                int64_t piece) const {
  const int64_t width = layout_->width, parts = layout_->parts;
  for (int64_t panel = 0; panel < panels; ++panel) {
    std::byte* const to = numbers(piece, panel * parts * filled * width);
    kernel_->split_panel({.stored = memory_ + layout_->stored + panel * inputs * width,
                          .storage = Storage::kFloat32,
                          .inputs = inputs,
                          .filled = filled,
                          .to = reinterpret_cast<uint16_t*>(to),
                          .parts = static_cast<int>(parts)});
  }
}

/// The rows themselves, where numbers are multiplied as they are.
HeadProducts::Factor HeadProducts::rounded(const Source& source, const Place& place) const {
  if (!layout_->is_rounded)
    return {.values = source.values, .stride = source.stride, .part_size = 0};
  const int64_t part_size = layout_->rows * place.stride;
  std::byte* const to = numbers(place.start, 0);
  kernel_->round_rows({.from = source.values,
                       .stride = source.stride,
                       .rows = source.rows,
                       .count = source.count,
                       .to = to,
                       .to_stride = place.stride,
                       .filled = place.filled,
                       .parts = {.count = static_cast<int>(layout_->parts), .size = part_size},
                       .scales = nullptr});
  return {.values = to, .stride = place.stride, .part_size = part_size};
}

/// The panels before it are so many columns wide, each of `inputs` numbers.
HeadProducts::Panel HeadProducts::panel_at(int64_t piece, int64_t inputs, int64_t column) const {
  return {.values = numbers(piece, layout_->parts * column * inputs),
          .inputs = inputs,
          .part_size = inputs * layout_->width};
}

void HeadProducts::compute_scores(const QueryTile& tile) const {
  const Factor queries = rounded(
      {.values = head_->query + tile.first * head_->query_stride,
       .stride = head_->query_stride,
       .rows = tile.rows,
       .count = head_->head_size},
      {.start = layout_->queries, .stride = layout_->query_stride, .filled = layout_->key_inputs});
  const auto [values, stride] = scores();
  for (int64_t token = tile.start; token < tile.end; token += layout_->width) {
    multiply(tile.rows, queries, panel_at(layout_->keys, layout_->key_inputs, token),
             {.values = values + (token - tile.start), .stride = stride});
  }
}

void HeadProducts::take_weights(const QueryTile& tile) {
  const int64_t filled = tile.filled(layout_->width);
  weights_ = rounded(
      {.values = scores().values, .stride = scores().stride, .rows = tile.rows, .count = filled},
      {.start = layout_->weights, .stride = layout_->weight_stride, .filled = filled});
}

void HeadProducts::compute_results(const QueryTile& tile, int64_t panel, float* to) const {
  const int64_t width = layout_->width;
  Panel values = panel_at(layout_->values, layout_->value_inputs, panel * width);
  values.values += tile.start * width * kernel_->value_bytes;
  values.inputs = layout_->is_rounded ? tile.filled(width) : tile.end - tile.start;
  multiply(tile.rows, weights_, values, {.values = to, .stride = width});
}

/// The panel is in the cache already.
void HeadProducts::multiply(int64_t rows, const Factor& a, const Panel& panel,
                            const Scores& to) const {
  const int parts = static_cast<int>(layout_->parts);
  kernel_->tiles[rows - 1]({.a = a.values,
                            .a_stride = a.stride,
                            .panel = panel.values,
                            .inputs = panel.inputs,
                            .bias = kNoBias,
                            .c = to.values,
                            .c_stride = to.stride,
                            .rows = rows,
                            .prefetch = reinterpret_cast<const char*>(panel.values),
                            .prefetch_step = 0,
                            .a_parts = {.count = parts, .size = a.part_size},
                            .panel_parts = {.count = parts, .size = panel.part_size}});
}

}  // namespace gemm
