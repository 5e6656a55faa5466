// Pooling: one row for each sequence, or for each of its chunks, from the rows of their tokens.
// Source: sentence-transformers, sentence_transformer/modules/pooling.py (Pooling).
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "encoder/modules/module.h"
#include "encoder/nn/max_inplace.h"

namespace backend::modules {
namespace {

/// Rows of a sequence up to `count`. Rows before `first` are excluded.
struct Tokens {
  const float* rows;
  int64_t first;
  int64_t count;
  int64_t columns;
  const float* row(int64_t token) const { return rows + token * columns; }
};

/// Σ weight × row / divisor(Σ weight), summed in token order, which does not depend on the batch.
template <class Weight, class Divisor>
void average(const Tokens& tokens, const Weight& weight, const Divisor& divisor, float* result) {
  std::fill_n(result, tokens.columns, 0.0F);
  float weights = 0;
  for (int64_t i = tokens.first; i < tokens.count; ++i) {
    const float* const row = tokens.row(i);
    for (int64_t k = 0; k < tokens.columns; ++k) result[k] += weight(i) * row[k];
    weights += weight(i);
  }
  const float by = divisor(weights);
  for (int64_t k = 0; k < tokens.columns; ++k) result[k] /= by;
}

void max_pool(const Tokens& tokens, float* result) {
  std::copy_n(tokens.row(tokens.first), tokens.columns, result);
  for (int64_t i = tokens.first + 1; i < tokens.count; ++i) {
    const float* const row = tokens.row(i);
    nn::max_inplace(row, tokens.columns, result);
  }
}

void pool(PoolingMode mode, const Tokens& tokens, float* result) {
  const auto unit_weight = [](int64_t) { return 1.0F; };
  const auto sum = [](float weights) { return weights; };
  const auto root = [](float weights) { return std::sqrt(weights); };
  switch (mode) {
    case PoolingMode::kCls:
      std::copy_n(tokens.row(tokens.first), tokens.columns, result);
      return;
    case PoolingMode::kLastToken:
      std::copy_n(tokens.row(tokens.count - 1), tokens.columns, result);
      return;
    case PoolingMode::kMax:
      max_pool(tokens, result);
      return;
    case PoolingMode::kMean:
      average(tokens, unit_weight, sum, result);
      return;
    case PoolingMode::kMeanSqrtLength:
      average(tokens, unit_weight, root, result);
      return;
    case PoolingMode::kWeightedMean:
      average(tokens, [](int64_t i) { return static_cast<float>(i + 1); }, sum, result);
      return;
  }
}

class Pooling final : public Module {
 public:
  Pooling(PoolingModule options, int64_t columns)
      : options_(std::move(options)), columns_(columns) {}

  int64_t columns() const override {
    return columns_ * static_cast<int64_t>(options_.modes.size());
  }

  at::Tensor operator()(const at::Tensor& rows, const nn::PackedBatch& batch) const override {
    if (pools_first_token(options_)) return rows;  // the encoder returned only these rows
    const at::Tensor whole = rows.contiguous();
    const auto* const first = whole.const_data_ptr<float>();
    at::Tensor pooled = at::empty({batch.cu_pooled_rows.back(), columns()}, whole.options());
    auto* result = pooled.mutable_data_ptr<float>();
    for (size_t i = 0; i + 1 < batch.cu_seqlens.size(); ++i) {
      const float* const sequence = first + batch.cu_seqlens[i] * columns_;
      const int64_t last_row = batch.cu_pooled_rows[i + 1];
      int64_t row = batch.cu_pooled_rows[i];
      // At least one token remains: a special token or a text follows the prompt.
      int64_t begin = options_.include_prompt
                          ? 0
                          : std::min(batch.prompt_tokens[i], batch.pooled_ends[row] - 1);
      for (; row < last_row; begin = batch.pooled_ends[row++]) {
        const Tokens tokens{sequence, begin, batch.pooled_ends[row], columns_};
        for (const PoolingMode mode : options_.modes) {
          pool(mode, tokens, result);
          result += columns_;
        }
      }
    }
    return pooled;
  }

 private:
  PoolingModule options_;
  int64_t columns_;
};

}  // namespace

bool pools_first_token(const PoolingModule& pooling) {
  return pooling.include_prompt && pooling.modes == std::vector{PoolingMode::kCls};
}

std::unique_ptr<Module> make(const PoolingModule& options, int64_t columns) {
  return std::make_unique<Pooling>(options, columns);
}

}  // namespace backend::modules
