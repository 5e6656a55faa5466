// RoBERTa for sequence classification; XLM-RoBERTa and CamemBERT are the same network, and so is
// data2vec's text model under another name.
// Source: transformers, models/roberta/modeling_roberta.py (RobertaForSequenceClassification) and
// models/data2vec/modeling_data2vec_text.py (Data2VecTextForSequenceClassification).

#include "encoder/models/bert_encoder.h"
#include "encoder/models/sequence_classifier.h"
#include "encoder/nn/classification_head.h"

namespace backend::models {
namespace {

class Roberta final : public SequenceClassifier {
 public:
  Roberta(const ModelConfig& config, const Weights& weights, const char* encoder_key)
      : encoder_(config, weights / encoder_key, config.positive_integer("hidden_size")),
        padding_id_(config.count_or("pad_token_id", 1)),
        head_(weights / "classifier.dense", weights / "classifier.out_proj",
              config.positive_integer("hidden_size"), config.positive_integer("num_labels"),
              nn::tanh) {
    if (max_length() < 1) {
      throw LoadError(
          "config.json: max_position_embeddings: leaves no position above pad_token_id");
    }
  }

  at::Tensor forward(const nn::PackedBatch& batch) const override {
    return head_(encoder_.first_token_states(batch, batch.position_ids_after(padding_id_),
                                             batch.token_type_ids));
  }

  int64_t max_length() const override { return encoder_.position_rows() - padding_id_ - 1; }
  int64_t vocabulary_size() const override { return encoder_.vocabulary_size(); }
  int64_t token_types() const override { return encoder_.token_types(); }

 private:
  BertEncoder encoder_;
  int64_t padding_id_;
  nn::ClassificationHead head_;
};

}  // namespace

std::unique_ptr<SequenceClassifier> make_roberta(const ModelConfig& config,
                                                 const Weights& weights) {
  return std::make_unique<Roberta>(config, weights, "roberta");
}

std::unique_ptr<SequenceClassifier> make_data2vec_text(const ModelConfig& config,
                                                       const Weights& weights) {
  return std::make_unique<Roberta>(config, weights, "data2vec_text");
}

}  // namespace backend::models
