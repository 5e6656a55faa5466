// Static embeddings: a table of token vectors without a network.
// Sources: sentence-transformers, modules/static_embedding.py (StaticEmbedding); model2vec,
// model.py (StaticModel).
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <optional>

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

  at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens /*outputs*/) const override {
    const int64_t count = batch.tokens();
    const auto* const ids = batch.input_ids.const_data_ptr<int64_t>();
    at::Tensor rows = at::empty({count}, batch.input_ids.options());
    auto* const row = rows.mutable_data_ptr<int64_t>();
    const auto* const mapping = mapping_.defined() ? mapping_.const_data_ptr<int64_t>() : nullptr;
    for (int64_t i = 0; i < count; ++i) {
      const bool is_empty = ids[i] == vocabulary_size_;
      row[i] = is_empty ? 0 : (mapping != nullptr ? mapping[ids[i]] : ids[i]);
    }
    at::Tensor vectors = at::index_select(table_, 0, rows).to(at::kFloat);
    scale(ids, vectors);
    return vectors;
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

  /// Multiplies the vectors with the weights of their tokens; the vector of a text without tokens
  /// becomes 0.
  void scale(const int64_t* ids, const at::Tensor& vectors) const {
    const int64_t size = vectors.size(1);
    auto* vector = vectors.mutable_data_ptr<float>();
    const auto* const weights =
        token_weights_.defined() ? token_weights_.const_data_ptr<float>() : nullptr;
    for (int64_t i = 0; i < vectors.size(0); ++i, vector += size) {
      if (ids[i] == vocabulary_size_) {
        std::fill_n(vector, size, 0.0F);
      } else if (weights != nullptr) {
        std::for_each_n(vector, size, [&](float& value) { value *= weights[ids[i]]; });
      }
    }
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
