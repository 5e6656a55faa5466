#include "gemm/attention.h"

#include <algorithm>

#include "attention_flow.h"
#include "attention_kernels.h"
#include "gemm/bfloat16_linear.h"

namespace gemm {
namespace {

/// Below, laying out keys and values in other numbers takes as long as their products gain or
/// longer (bench/products.cc, on a Zen 4).
constexpr int64_t kFewQueries = 16;

/// How one call uses its memory. Keys and values lie as panels, like the weights of a linear layer.
struct Layout {
  Layout(const Kernel& kernel, int64_t tokens, int64_t head_size)
      : score_stride(filled_up(tokens, kernel.panel_width)),
        keys_size(score_stride * head_size),
        values_size(filled_up(head_size, kernel.panel_width) * tokens),
        scores_size(score_stride * kernel.tile_rows) {}

  int64_t size() const { return keys_size + values_size + scores_size; }

  int64_t score_stride;
  int64_t keys_size;    ///< [panels of tokens, head_size, width]
  int64_t values_size;  ///< [panels of the head, tokens, width]
  int64_t scores_size;  ///< [rows of a tile, score_stride]
};

/// See attend_by().
class Float32Products {
 public:
  Float32Products(const Kernel& kernel, const AttentionHead& head, const Layout& layout,
                  float* memory)
      : kernel_(&kernel),
        head_(&head),
        keys_(memory),
        values_(memory + layout.keys_size),
        weights_{} {
    kernel.pack_keys(head, keys_);
    kernel.pack_values(head, values_);
  }

  int64_t width() const { return kernel_->panel_width; }
  int64_t tile_rows() const { return kernel_->tile_rows; }
  static int64_t row_step() { return 1; }

  void compute_scores(const QueryTile& tile, const Scores& scores) const {
    const float* const queries = head_->query + tile.first * head_->query_stride;
    for (int64_t token = tile.start; token < tile.end; token += width()) {
      multiply(tile.rows, {.values = queries, .stride = head_->query_stride},
               {.values = keys_ + token * head_->head_size, .inputs = head_->head_size},
               {.values = scores.values + (token - tile.start), .stride = scores.stride});
    }
  }

  void take_weights(const QueryTile&, const Scores& scores) { weights_ = scores; }

  void compute_results(const QueryTile& tile, int64_t panel, float* to) const {
    const float* const values = values_ + (panel * head_->tokens + tile.start) * width();
    multiply(tile.rows, {.values = weights_.values, .stride = weights_.stride},
             {.values = values, .inputs = tile.end - tile.start},
             {.values = to, .stride = width()});
  }

 private:
  struct Rows {
    const float* values;
    int64_t stride;
  };
  struct Panel {
    const float* values;
    int64_t inputs;
  };

  /// The panel is in the cache already.
  void multiply(int64_t rows, const Rows& a, const Panel& panel, const Scores& to) const {
    kernel_->float32_tiles[rows - 1]({.a = a.values,
                                      .a_stride = a.stride,
                                      .panel = panel.values,
                                      .inputs = panel.inputs,
                                      .bias = kNoBias,
                                      .c = to.values,
                                      .c_stride = to.stride,
                                      .prefetch = reinterpret_cast<const char*>(panel.values),
                                      .prefetch_step = 0});
  }

  const Kernel* kernel_;
  const AttentionHead* head_;
  float* keys_;
  float* values_;
  Scores weights_;
};

/// Panels of keys and values are laid out by the one and read by the other.
bool fit_together(int64_t panel_width) { return best_kernel().panel_width == panel_width; }

BFloat16Attention bfloat16_attention() {
  const BFloat16Kernel& best = best_bfloat16_kernel();
  return fit_together(best.panel_width)
             ? BFloat16Attention(best_kernel(), {&best})
             : BFloat16Attention(kPortableKernel, {&kPortableBFloat16Kernel});
}

SplitAttention split_attention(Parts parts) {
  const SplitKernel& best = best_split_kernel();
  return fit_together(best.panel_width)
             ? SplitAttention(best_kernel(), {&best, parts})
             : SplitAttention(kPortableKernel, {&kPortableSplitKernel, parts});
}

/// Calls `call` with what attends in a format.
template <class Call>
auto with_attention(AttentionFormat format, const Call& call) {
  switch (format) {
    case AttentionFormat::kBFloat16x6:
      return call(split_attention(Parts::kThree));
    case AttentionFormat::kBFloat16x3:
      return call(split_attention(Parts::kTwo));
    case AttentionFormat::kBFloat16:
      return call(bfloat16_attention());
    case AttentionFormat::kFloat32:
      break;
  }
  return call(Float32Attention(best_kernel()));
}

}  // namespace

bool is_fast(AttentionFormat format) {
  switch (format) {
    case AttentionFormat::kBFloat16x6:
    case AttentionFormat::kBFloat16x3:
      return SplitLinear::is_fast() && fit_together(best_split_kernel().panel_width);
    case AttentionFormat::kBFloat16:
      return BFloat16Linear::is_fast() && fit_together(best_bfloat16_kernel().panel_width);
    case AttentionFormat::kFloat32:
      break;
  }
  return true;
}

int64_t attention_scratch(AttentionFormat format, int64_t tokens, int64_t head_size) {
  const int64_t float32 = Float32Attention(best_kernel()).scratch(tokens, head_size);
  const int64_t rounded = with_attention(
      format, [&](const auto& attention) { return attention.scratch(tokens, head_size); });
  return filled_up(std::max(float32, rounded), kLineFloats);
}

void attend(AttentionFormat format, const AttentionHead& head, float* scratch) {
  const AttentionFormat used = head.queries < kFewQueries ? AttentionFormat::kFloat32 : format;
  with_attention(used, [&](const auto& attention) { attention.attend(head, scratch); });
}

int64_t Float32Attention::scratch(int64_t tokens, int64_t head_size) const {
  return Layout(*kernel_, tokens, head_size).size();
}

void Float32Attention::attend(const AttentionHead& head, float* scratch) const {
  const Layout layout(*kernel_, head.tokens, head.head_size);
  Float32Products products(*kernel_, head, layout, scratch);
  attend_by(
      *kernel_, head, products,
      {.values = scratch + layout.keys_size + layout.values_size, .stride = layout.score_stride});
}

}  // namespace gemm
