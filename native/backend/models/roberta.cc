// RoBERTa for sequence classification; XLM-RoBERTa and CamemBERT are the same network.
// Source: transformers, models/roberta/modeling_roberta.py (RobertaForSequenceClassification).
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

#include "models/bert_encoder.h"
#include "models/sequence_classifier.h"
#include "nn/linear.h"

namespace backend::models {
namespace {

class Roberta final : public SequenceClassifier {
 public:
  Roberta(const ModelConfig& config, const Weights& weights)
      : encoder_(config, weights / "roberta"),
        padding_id_(config.integer_or("pad_token_id", 1)),
        dense_(weights / "classifier.dense", encoder_.hidden_size(), encoder_.hidden_size()),
        out_proj_(weights / "classifier.out_proj", encoder_.hidden_size(),
                  config.positive_integer("num_labels")) {
    if (max_length() < 1) {
      throw LoadError(
          "config.json: max_position_embeddings: leaves no position above pad_token_id");
    }
  }

  at::Tensor forward(const nn::PackedBatch& batch) const override {
    // The tokenizers of this family know one token type.
    const at::Tensor first = encoder_.first_token_states(batch, position_ids(batch),
                                                         at::zeros_like(batch.token_type_ids));
    return out_proj_(at::tanh(dense_(first)));
  }

  int64_t max_length() const override { return encoder_.position_rows() - padding_id_ - 1; }
  int64_t vocabulary_size() const override { return encoder_.vocabulary_size(); }

 private:
  /// Positions count from padding_id + 1, and a padding token (which a text may spell out) has the
  /// position padding_id and is not counted: create_position_ids_from_input_ids of the reference.
  at::Tensor position_ids(const nn::PackedBatch& batch) const {
    at::Tensor positions = at::empty_like(batch.input_ids);
    const auto* ids = batch.input_ids.const_data_ptr<int64_t>();
    auto* data = positions.mutable_data_ptr<int64_t>();
    for (size_t i = 0; i + 1 < batch.cu_seqlens.size(); ++i) {
      int64_t position = padding_id_;
      for (int64_t row = batch.cu_seqlens[i]; row < batch.cu_seqlens[i + 1]; ++row) {
        data[row] = ids[row] == padding_id_ ? padding_id_ : ++position;
      }
    }
    return positions;
  }

  BertEncoder encoder_;
  int64_t padding_id_;
  nn::Linear dense_;
  nn::Linear out_proj_;
};

}  // namespace

std::unique_ptr<SequenceClassifier> make_roberta(const ModelConfig& config,
                                                 const Weights& weights) {
  return std::make_unique<Roberta>(config, weights);
}

}  // namespace backend::models
