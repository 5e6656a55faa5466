// Attention whose products are of bfloat16 numbers, one or several for each float32.
#include <algorithm>

#include "attention_flow.h"
#include "attention_kernels.h"

namespace gemm {
namespace {

/// One interface to the kernels of both. Rows and panels: see SplitKernel, SplitTile.
int parts_of(const BFloat16Numbers&) { return 1; }
int parts_of(const SplitNumbers& numbers) { return static_cast<int>(numbers.parts); }

void round_row(const BFloat16Numbers& numbers, const float* from, int64_t count, uint16_t* to,
               int64_t) {
  numbers.kernel->round(from, to, count);
}
void round_row(const SplitNumbers& numbers, const float* from, int64_t count, uint16_t* to,
               int64_t part_size) {
  numbers.kernel->split(from, count, numbers.parts, to, part_size);
}

void round_panel(const BFloat16Numbers& numbers, const float* from, int64_t inputs, int64_t filled,
                 uint16_t* to) {
  numbers.kernel->round_panel(from, inputs, filled, to);
}
void round_panel(const SplitNumbers& numbers, const float* from, int64_t inputs, int64_t filled,
                 uint16_t* to) {
  numbers.kernel->split_panel({.stored = from,
                               .storage = Storage::kFloat32,
                               .inputs = inputs,
                               .filled = filled,
                               .to = to,
                               .parts = parts_of(numbers)});
}

void multiply(const BFloat16Numbers& numbers, const SplitTile& tile) {
  numbers.kernel->tiles[tile.rows - 1]({.a = tile.a,
                                        .a_stride = tile.a_stride,
                                        .panel = tile.panel,
                                        .inputs = tile.inputs,
                                        .bias = tile.bias,
                                        .c = tile.c,
                                        .c_stride = tile.c_stride,
                                        .rows = tile.rows,
                                        .prefetch = tile.prefetch,
                                        .prefetch_step = tile.prefetch_step});
}
void multiply(const SplitNumbers& numbers, const SplitTile& tile) { numbers.kernel->compute(tile); }

/// Is taken piece by piece, each beginning with a cache line. Where there is none yet, it tells how
/// much there has to be.
class Memory {
 public:
  explicit Memory(float* from) : from_(from) {}

  float* take_floats(int64_t count) {
    float* const piece = from_ != nullptr ? from_ + taken_ : nullptr;
    taken_ += filled_up(count, kLineFloats);
    return piece;
  }
  uint16_t* take_halves(int64_t count) {
    return reinterpret_cast<uint16_t*>(take_floats(ceil_divide(count, 2)));
  }
  int64_t taken() const { return taken_; }

 private:
  float* from_;
  int64_t taken_ = 0;
};

/// How one call uses its memory, which lies as it does for a linear layer: panels of keys and of
/// values as SplitTile's, rows as SplitRows'.
struct Layout {
  template <class Products>
  Layout(const Products& products, int number_parts, int64_t token_count, int64_t size)
      : width(products.panel_width),
        parts(number_parts),
        tokens(filled_up(token_count, width)),
        head_size(filled_up(size, products.inputs_together)),
        head_panels(ceil_divide(size, width)),
        stored_size(std::max(tokens * size, head_panels * width * token_count)),
        query_stride(row_stride(head_size, products.inputs_together, products.row_step)),
        weight_stride(row_stride(tokens, products.inputs_together, products.row_step)),
        rows(products.tile_rows) {}

  int64_t width;
  int64_t parts;
  int64_t tokens;         ///< filled up to whole panels, and so to steps of a product
  int64_t head_size;      ///< filled up to steps of a product
  int64_t head_panels;    ///< of its values
  int64_t stored_size;    ///< of the keys or the values of a head in float32
  int64_t query_stride;   ///< of one part
  int64_t weight_stride;  ///< the same
  int64_t rows;           ///< of a tile
};

template <class Numbers>
Layout layout_of(const Numbers& numbers, int64_t tokens, int64_t head_size) {
  return {*numbers.kernel, parts_of(numbers), tokens, head_size};
}

struct Scratch {
  Scratch(const Layout& layout, Memory&& memory)
      : stored(memory.take_floats(layout.stored_size)),
        scores(memory.take_floats(layout.rows * layout.tokens)),
        keys(memory.take_halves(layout.parts * layout.tokens * layout.head_size)),
        values(
            memory.take_halves(layout.parts * layout.head_panels * layout.width * layout.tokens)),
        queries(memory.take_halves(layout.parts * layout.rows * layout.query_stride)),
        weights(memory.take_halves(layout.parts * layout.rows * layout.weight_stride)),
        size(memory.taken()) {}

  float* stored;      ///< keys, then values, before they are rounded
  float* scores;      ///< [rows, tokens]
  uint16_t* keys;     ///< [panels of tokens, parts, head_size / 2, width, 2]
  uint16_t* values;   ///< [panels of the head, parts, tokens / 2, width, 2]
  uint16_t* queries;  ///< [parts, rows, query_stride]
  uint16_t* weights;  ///< [parts, rows, weight_stride]
  int64_t size;       ///< of all, in floats
};

/// See attend_by().
template <class Numbers>
class RoundedProducts {
 public:
  RoundedProducts(const Kernel& kernel, const Numbers& numbers, const AttentionHead& head,
                  const Layout& layout, const Scratch& scratch)
      : numbers_(&numbers), head_(&head), layout_(&layout), scratch_(&scratch) {
    const int64_t width = layout.width;
    kernel.pack_keys(head, scratch.stored);
    for (int64_t token = 0; token < layout.tokens; token += width) {
      round_panel(numbers, scratch.stored + token * head.head_size, head.head_size,
                  layout.head_size, keys(token));
    }
    kernel.pack_values(head, scratch.stored);
    for (int64_t panel = 0; panel < layout.head_panels; ++panel) {
      round_panel(numbers, scratch.stored + panel * width * head.tokens, head.tokens, layout.tokens,
                  values(panel));
    }
  }

  int64_t width() const { return layout_->width; }
  int64_t tile_rows() const { return layout_->rows; }
  int64_t row_step() const { return numbers_->kernel->row_step; }

  void compute_scores(const QueryTile& tile, const Scores& scores) const {
    const Rows queries{.values = scratch_->queries, .stride = layout_->query_stride};
    for (int64_t i = 0; i < tile.rows; ++i) {
      round(head_->query + (tile.first + i) * head_->query_stride, head_->head_size,
            layout_->head_size, queries, i);
    }
    for (int64_t token = tile.start; token < tile.end; token += width()) {
      multiply_rows(tile.rows, queries,
                    {.values = keys(token),
                     .inputs = layout_->head_size,
                     .part_size = layout_->head_size * width()},
                    {.values = scores.values + (token - tile.start), .stride = scores.stride});
    }
  }

  void take_weights(const QueryTile& tile, const Scores& scores) const {
    const int64_t filled = tile.filled(width());
    for (int64_t i = 0; i < tile.rows; ++i) {
      round(scores.values + i * scores.stride, filled, filled, weights(), i);
    }
  }

  void compute_results(const QueryTile& tile, int64_t panel, float* to) const {
    multiply_rows(tile.rows, weights(),
                  {.values = values(panel) + tile.start * width(),
                   .inputs = tile.filled(width()),
                   .part_size = layout_->tokens * width()},
                  {.values = to, .stride = width()});
  }

 private:
  /// Of the first part; those of the others lie `rows` of them further each.
  struct Rows {
    uint16_t* values;
    int64_t stride;
  };
  struct Panel {
    const uint16_t* values;
    int64_t inputs;
    int64_t part_size;
  };

  Rows weights() const { return {.values = scratch_->weights, .stride = layout_->weight_stride}; }
  uint16_t* keys(int64_t token) const {
    return scratch_->keys + layout_->parts * token * layout_->head_size;
  }
  uint16_t* values(int64_t panel) const {
    return scratch_->values + layout_->parts * panel * layout_->tokens * layout_->width;
  }
  int64_t part_size(const Rows& rows) const { return layout_->rows * rows.stride; }

  void round(const float* from, int64_t count, int64_t filled, const Rows& to, int64_t row) const {
    uint16_t* const values = to.values + row * to.stride;
    round_row(*numbers_, from, count, values, part_size(to));
    for (int64_t part = 0; part < layout_->parts; ++part) {
      uint16_t* const of_part = values + part * part_size(to);
      std::fill(of_part + count, of_part + filled, uint16_t{0});
    }
  }

  /// The panel is in the cache already.
  void multiply_rows(int64_t rows, const Rows& a, const Panel& panel, const Scores& to) const {
    multiply(*numbers_, {.a = a.values,
                         .a_part_size = part_size(a),
                         .a_stride = a.stride,
                         .a_parts = parts_of(*numbers_),
                         .panel = panel.values,
                         .panel_part_size = panel.part_size,
                         .panel_parts = parts_of(*numbers_),
                         .inputs = panel.inputs,
                         .bias = kNoBias,
                         .c = to.values,
                         .c_stride = to.stride,
                         .rows = rows,
                         .prefetch = reinterpret_cast<const char*>(panel.values),
                         .prefetch_step = 0});
  }

  const Numbers* numbers_;
  const AttentionHead* head_;
  const Layout* layout_;
  const Scratch* scratch_;
};

}  // namespace

template <class Numbers>
int64_t RoundedAttention<Numbers>::scratch(int64_t tokens, int64_t head_size) const {
  return Scratch(layout_of(numbers_, tokens, head_size), Memory(nullptr)).size;
}

template <class Numbers>
void RoundedAttention<Numbers>::attend(const AttentionHead& head, float* memory) const {
  const Layout layout = layout_of(numbers_, head.tokens, head.head_size);
  const Scratch scratch(layout, Memory(memory));
  RoundedProducts<Numbers> products(*kernel_, numbers_, head, layout, scratch);
  if (numbers_.kernel->begin != nullptr) numbers_.kernel->begin(head.queries);
  attend_by(*kernel_, head, products, {.values = scratch.scores, .stride = layout.tokens});
  if (numbers_.kernel->end != nullptr) numbers_.kernel->end();
}

template class RoundedAttention<BFloat16Numbers>;
template class RoundedAttention<SplitNumbers>;

}  // namespace gemm
