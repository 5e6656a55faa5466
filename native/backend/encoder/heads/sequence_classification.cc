// From a sequence's state to its logits.
// Source: transformers, the classes …ForSequenceClassification and …ClassificationHead of each
// family's modeling file.
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

/// Its layers multiply in float32 always: the answer hangs on them, and they are small.
class SequenceClassification final : public Head {
 public:
  SequenceClassification(const HeadSource& source, const SequenceClassificationKeys& keys)
      : columns_(source.config.positive_integer("num_labels")),
        transform_(source.config, source.weights.in_float32(), keys.transform, source.hidden_size),
        output_((source.weights / keys.output).in_float32(), source.hidden_size, columns_) {
    if (keys.transform.norm == nullptr) return;  // config.json says more of ModernBERT's
    source.config.require_one_of("classifier_pooling", {"cls", "mean"});
    reads_mean_ = source.config.string_or("classifier_pooling", "cls") == "mean";
  }

  nn::Outputs reads() const override {
    return reads_mean_ ? nn::Outputs::kAllTokens : nn::Outputs::kFirstTokens;
  }

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    return output_(transform_(reads_mean_ ? mean_by_sequence(hidden, batch) : hidden));
  }

 private:
  int64_t columns_;
  Transform transform_;
  nn::Linear output_;
  bool reads_mean_ = false;
};

}  // namespace

std::unique_ptr<Head> make(const SequenceClassificationHead& /*what*/, const HeadSource& source) {
  return std::make_unique<SequenceClassification>(source, source.keys.sequence_classification);
}

}  // namespace backend::heads
