// From a sequence's state to its logits.
// Source: transformers, the classes …ForSequenceClassification and …ClassificationHead of each
// family's modeling file.
#include <ATen/ops/cat.h>
#include <ATen/ops/mean.h>

#include <optional>
#include <vector>

#include "encoder/heads/head.h"
#include "encoder/nn/activation.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"

namespace backend::heads {
namespace {

/// [tokens, hidden] → [sequences, hidden]
at::Tensor mean_by_sequence(const at::Tensor& hidden, const nn::PackedBatch& batch) {
  std::vector<at::Tensor> means;
  means.reserve(batch.groups.size());
  for (const auto& [first_token, sequences, length] : batch.groups) {
    means.push_back(
        hidden.narrow(0, first_token, sequences * length).view({sequences, length, -1}).mean(1));
  }
  return at::cat(means);
}

nn::Bias bias_of(const ModelConfig& config, const char* key) {
  return config.boolean_or(key, false) ? nn::Bias::kYes : nn::Bias::kNo;
}

nn::Activation activation_of(const ModelConfig& config, const SequenceClassificationKeys& keys) {
  const char* const key = keys.activation_key;
  return nn::activation_by_name(key ? config.string_or(key, keys.activation) : keys.activation,
                                key ? key : "");
}

/// Its layers multiply in float32 always: the answer hangs on them, and they are small.
class SequenceClassification final : public Head {
 public:
  SequenceClassification(const HeadSource& source, const SequenceClassificationKeys& keys)
      : columns_(source.config.positive_integer("num_labels")),
        dense_((source.weights / keys.dense).in_float32(), source.hidden_size, source.hidden_size,
               keys.norm ? bias_of(source.config, "classifier_bias") : nn::Bias::kYes),
        activation_(activation_of(source.config, keys)),
        output_((source.weights / keys.output).in_float32(), source.hidden_size, columns_) {
    if (keys.norm == nullptr) return;
    norm_.emplace(source.weights / keys.norm, source.hidden_size,
                  source.config.epsilon_or("norm_eps", 1e-5), bias_of(source.config, "norm_bias"));
    source.config.require_one_of("classifier_pooling", {"cls", "mean"});
    reads_mean_ = source.config.string_or("classifier_pooling", "cls") == "mean";
  }

  nn::Outputs reads() const override {
    return reads_mean_ ? nn::Outputs::kAllTokens : nn::Outputs::kFirstTokens;
  }

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    const at::Tensor pooled = reads_mean_ ? mean_by_sequence(hidden, batch) : hidden;
    const at::Tensor inner = dense_(pooled, activation_);
    return output_(norm_ ? (*norm_)(inner) : inner);
  }

 private:
  int64_t columns_;
  nn::Linear dense_;
  nn::Activation activation_;
  nn::Linear output_;
  std::optional<nn::LayerNorm> norm_;
  bool reads_mean_ = false;
};

}  // namespace

std::unique_ptr<Head> make_sequence_classification(const HeadSource& source) {
  return std::make_unique<SequenceClassification>(source, source.keys.sequence_classification);
}

}  // namespace backend::heads
