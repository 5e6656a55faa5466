// BERT for sequence classification, and ERNIE, which adds an embedding of the task.
// Source: transformers, models/bert/modeling_bert.py (BertForSequenceClassification) and
// models/ernie/modeling_ernie.py (ErnieForSequenceClassification).
#include "encoder/models/bert_encoder.h"
#include "encoder/models/sequence_classifier.h"
#include "encoder/nn/classification_head.h"

namespace backend::models {
namespace {

class Bert final : public SequenceClassifier {
 public:
  Bert(const ModelConfig& config, const Weights& weights, const char* encoder_key)
      : encoder_(config, weights / encoder_key, config.positive_integer("hidden_size")),
        head_(weights / encoder_key / "pooler.dense", weights / "classifier",
              config.positive_integer("hidden_size"), config.positive_integer("num_labels"),
              nn::tanh) {}

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

std::unique_ptr<SequenceClassifier> make_bert(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<Bert>(config, weights, "bert");
}

std::unique_ptr<SequenceClassifier> make_ernie(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<Bert>(config, weights, "ernie");
}

}  // namespace backend::models
