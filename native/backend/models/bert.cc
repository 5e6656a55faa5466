// BERT for sequence classification.
// Source: transformers, models/bert/modeling_bert.py (BertForSequenceClassification).
#include <ATen/ops/tanh.h>

#include "models/bert_encoder.h"
#include "models/sequence_classifier.h"
#include "nn/linear.h"

namespace backend::models {
namespace {

class Bert final : public SequenceClassifier {
 public:
  Bert(const ModelConfig& config, const Weights& weights)
      : encoder_(config, weights / "bert"),
        pooler_(weights / "bert.pooler.dense", encoder_.hidden_size(), encoder_.hidden_size()),
        classifier_(weights / "classifier", encoder_.hidden_size(),
                    config.positive_integer("num_labels")) {}

  at::Tensor forward(const nn::PackedBatch& batch) const override {
    const at::Tensor first =
        encoder_.first_token_states(batch, batch.position_ids(), batch.token_type_ids);
    return classifier_(at::tanh(pooler_(first)));
  }

  int64_t max_length() const override { return encoder_.position_rows(); }
  int64_t vocabulary_size() const override { return encoder_.vocabulary_size(); }

 private:
  BertEncoder encoder_;
  nn::Linear pooler_;
  nn::Linear classifier_;
};

}  // namespace

std::unique_ptr<SequenceClassifier> make_bert(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<Bert>(config, weights);
}

}  // namespace backend::models
