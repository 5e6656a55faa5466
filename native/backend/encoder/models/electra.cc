// ELECTRA: BERT whose embeddings may be narrower than its states.
// Source: transformers, models/electra/modeling_electra.py (ElectraModel).
#include "encoder/models/post_norm_encoder.h"

namespace backend::models {

std::unique_ptr<Encoder> make_electra(const ModelConfig& config, const Weights& weights) {
  constexpr int64_t kDefaultEmbeddingSize = 128;
  const int64_t size = config.integer_or("embedding_size", kDefaultEmbeddingSize);
  return make_bert_encoder(
      config, weights,
      size == kDefaultEmbeddingSize ? size : config.positive_integer("embedding_size"));
}

}  // namespace backend::models
