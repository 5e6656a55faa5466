// ELECTRA for sequence classification.
// Source: transformers, models/electra/modeling_electra.py (ElectraForSequenceClassification).
#include "encoder/models/bert_encoder.h"
#include "encoder/models/sequence_classifier.h"
#include "encoder/nn/classification_head.h"

namespace backend::models {
namespace {

constexpr int64_t kDefaultEmbeddingSize = 128;

int64_t embedding_size(const ModelConfig& config) {
  const int64_t size = config.integer_or("embedding_size", kDefaultEmbeddingSize);
  return size == kDefaultEmbeddingSize ? size : config.positive_integer("embedding_size");
}

class Electra final : public SequenceClassifier {
 public:
  Electra(const ModelConfig& config, const Weights& weights)
      : encoder_(config, weights / "electra", embedding_size(config)),
        head_(weights / "classifier.dense", weights / "classifier.out_proj",
              config.positive_integer("hidden_size"), config.positive_integer("num_labels"),
              nn::gelu) {}

  at::Tensor forward(const nn::PackedBatch& batch) const override {
    return head_(encoder_.first_token_states(batch, batch.position_ids(), batch.token_type_ids));
  }

  int64_t max_length() const override { return encoder_.position_rows(); }
  int64_t vocabulary_size() const override { return encoder_.vocabulary_size(); }
  int64_t token_types() const override { return encoder_.token_types(); }

 private:
  BertEncoder encoder_;
  nn::ClassificationHead head_;
};

}  // namespace

std::unique_ptr<SequenceClassifier> make_electra(const ModelConfig& config,
                                                 const Weights& weights) {
  return std::make_unique<Electra>(config, weights);
}

}  // namespace backend::models
