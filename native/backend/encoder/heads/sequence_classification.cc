// Logits of a sequence.
// Source: transformers, classes …ForSequenceClassification and …ClassificationHead of each
// architecture.
#include <ATen/ops/cat.h>
#include <ATen/ops/mean.h>

#include <vector>

#include "encoder/heads/head.h"

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

/// Its layers always compute in float32: they are small, and the logits are sensitive to rounding.
class SequenceClassification final : public Head {
 public:
  SequenceClassification(const HeadSource& source, const SequenceClassificationKeys& keys)
      : columns_(source.config.positive_integer("num_labels")),
        transform_(source.config, source.weights.in_float32(), keys.transform, source.hidden_size),
        output_((source.weights / keys.output).in_float32(), source.hidden_size, columns_) {
    if (keys.transform.norm == nullptr) return;  // further keys exist for ModernBERT only
    source.config.require_one_of("classifier_pooling", {"cls", "mean"});
    uses_mean_ = source.config.string_or("classifier_pooling", "cls") == "mean";
  }

  nn::OutputTokens input_tokens() const override {
    return uses_mean_ ? nn::OutputTokens::kAllTokens : nn::OutputTokens::kClsOnly;
  }

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    return output_(transform_(uses_mean_ ? mean_by_sequence(hidden, batch) : hidden));
  }

 private:
  int64_t columns_;
  Transform transform_;
  nn::Linear output_;
  bool uses_mean_ = false;
};

}  // namespace

std::unique_ptr<Head> make(const SequenceClassificationHead& /*options*/,
                           const HeadSource& source) {
  return std::make_unique<SequenceClassification>(source, source.keys.sequence_classification);
}

}  // namespace backend::heads
