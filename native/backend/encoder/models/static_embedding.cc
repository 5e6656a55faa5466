// Static embeddings: a table of token vectors without a network. The rows of a text are averaged as
// they are read, in token order, as modules/pooling.cc does.
// Sources: sentence-transformers, modules/static_embedding.py (StaticEmbedding); model2vec,
// model.py (StaticModel).
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "common/error.h"
#include "encoder/models/encoder.h"

namespace backend::models {
namespace {

/// Maximum number of tokens of a text.
constexpr int64_t kMaxLength = 1 << 20;

class StaticEmbedding final : public Encoder {
 public:
  explicit StaticEmbedding(const Weights& weights)
      : table_(
            weights.get_table(weights.has("embedding.weight") ? "embedding.weight" : "embeddings")),
        vocabulary_size_(table_.size(0)) {
    if (weights.has("mapping")) {
      mapping_ = weights.get_integers("mapping");
      vocabulary_size_ = mapping_.size(0);
      require_rows();
    }
    if (weights.has("weights")) {
      token_weights_ = weights.get_vector("weights");
      if (token_weights_.size(0) != vocabulary_size_) {
        throw common::LoadError("model.safetensors: weights: expected " +
                                std::to_string(vocabulary_size_) + " numbers, found " +
                                std::to_string(token_weights_.size(0)));
      }
    }
  }

  EncoderSizes sizes() const override {
    return {.max_length = kMaxLength,
            .vocabulary_size = vocabulary_size_,
            .token_types = 0,
            .hidden_size = table_.size(1),
            .empty_id = vocabulary_size_};
  }

  bool pools_mean() const override { return true; }

  at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens /*outputs*/) const override {
    const auto* const ids = batch.input_ids.const_data_ptr<int64_t>();
    const bool reads_table = table_.scalar_type() == at::kFloat && table_.is_contiguous();
    const at::Tensor gathered = reads_table ? at::Tensor() : gather(batch);
    const auto* const rows = (reads_table ? table_ : gathered).const_data_ptr<float>();
    const int64_t columns = table_.size(1);
    at::Tensor means = at::empty({batch.cu_pooled_rows.back(), columns}, at::kFloat);
    auto* mean = means.mutable_data_ptr<float>();
    std::vector<float> scaled(token_weights_.defined() ? columns : 0);
    for (size_t i = 0; i + 1 < batch.cu_seqlens.size(); ++i) {
      int64_t token = batch.cu_seqlens[i];
      for (int64_t row = batch.cu_pooled_rows[i]; row < batch.cu_pooled_rows[i + 1]; ++row) {
        const int64_t begin = token, end = batch.cu_seqlens[i] + batch.pooled_ends[row];
        std::fill_n(mean, columns, 0.0F);
        for (; token < end; ++token) {
          if (ids[token] == vocabulary_size_) continue;  // a text without tokens
          const int64_t at = reads_table ? row_of(ids[token]) : token;
          add(ids[token], rows + at * columns, scaled, mean);
        }
        const auto count = static_cast<float>(end - begin);
        std::for_each_n(mean, columns, [&](float& value) { value /= count; });
        mean += columns;
      }
    }
    return means;
  }

 private:
  /// Throws LoadError if the mapping names a row that the table does not have.
  void require_rows() const {
    const auto* const row = mapping_.const_data_ptr<int64_t>();
    const auto* const wrong = std::find_if(row, row + vocabulary_size_, [&](int64_t each) {
      return each < 0 || each >= table_.size(0);
    });
    if (wrong == row + vocabulary_size_) return;
    throw common::LoadError("model.safetensors: mapping: expected rows below " +
                            std::to_string(table_.size(0)) + ", found " + std::to_string(*wrong));
  }

  int64_t row_of(int64_t id) const {
    if (id == vocabulary_size_) return 0;  // not read
    return mapping_.defined() ? mapping_.const_data_ptr<int64_t>()[id] : id;
  }

  /// The row of each token as float32, [tokens, columns].
  at::Tensor gather(const nn::PackedBatch& batch) const {
    at::Tensor rows = at::empty({batch.tokens()}, batch.input_ids.options());
    const auto* const ids = batch.input_ids.const_data_ptr<int64_t>();
    std::transform(ids, ids + batch.tokens(), rows.mutable_data_ptr<int64_t>(),
                   [this](int64_t id) { return row_of(id); });
    return at::index_select(table_, 0, rows).to(at::kFloat);
  }

  /// Adds the vector of a token, multiplied with its weight. The product is rounded before the
  /// addition. `scaled`: memory for the product.
  void add(int64_t id, const float* vector, std::vector<float>& scaled, float* sum) const {
    const int64_t columns = table_.size(1);
    if (token_weights_.defined()) {
      const float weight = token_weights_.const_data_ptr<float>()[id];
      for (int64_t k = 0; k < columns; ++k) scaled[k] = vector[k] * weight;
      vector = scaled.data();
    }
    for (int64_t k = 0; k < columns; ++k) sum[k] += vector[k];
  }

  at::Tensor table_;          ///< [rows, size], in its stored type
  at::Tensor mapping_;        ///< int64 [vocabulary]: rows; undefined: the id is the row
  at::Tensor token_weights_;  ///< float32 [vocabulary]; undefined: none
  int64_t vocabulary_size_;
};

}  // namespace

std::unique_ptr<Encoder> make_static_embedding(const ModelConfig& /*config*/,
                                               const Weights& weights) {
  return std::make_unique<StaticEmbedding>(weights);
}

}  // namespace backend::models
