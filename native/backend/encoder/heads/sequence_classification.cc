// Logits of a sequence.
// Source: transformers, classes …ForSequenceClassification and …ClassificationHead of each
// architecture.
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mean.h>

#include <optional>
#include <string>
#include <vector>

#include "encoder/heads/head.h"

namespace backend::heads {
namespace {

/// Means of the rows of each sequence: [tokens, columns] → [sequences, columns].
at::Tensor mean_by_sequence(const at::Tensor& rows, const nn::PackedBatch& batch) {
  std::vector<at::Tensor> means;
  means.reserve(batch.groups.size());
  for (const auto& [first_token, sequences, length] : batch.groups) {
    means.push_back(
        rows.narrow(0, first_token, sequences * length).view({sequences, length, -1}).mean(1));
  }
  return at::cat(means);
}

/// Row numbers of each sequence's last token other than the padding token, or of its first token.
at::Tensor last_token_rows(const nn::PackedBatch& batch, int64_t padding_id) {
  const auto* const ids = batch.input_ids.const_data_ptr<int64_t>();
  at::Tensor rows = at::empty({batch.sequences()}, at::TensorOptions(at::kLong));
  auto* const to = rows.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i + 1 < batch.cu_seqlens.size(); ++i) {
    const int64_t first = batch.cu_seqlens[i];
    int64_t last = batch.cu_seqlens[i + 1] - 1;
    while (last > first && ids[last] == padding_id) --last;
    to[i] = ids[last] == padding_id ? first : last;
  }
  return rows;
}

ClassifierPooling pooling_of(const ModelConfig& config, const SequenceClassificationKeys& keys) {
  using enum ClassifierPooling;
  if (keys.pooling != kByConfig) return keys.pooling;
  config.require_one_of("classifier_pooling", {"cls", "bos", "mean", "late"});
  const std::string name = config.string_or("classifier_pooling", keys.default_pooling);
  if (name == "mean") return kMean;
  return name == "late" ? kLate : kFirst;
}

/// Its layers always compute in float32: they are small, and the logits are sensitive to rounding.
class SequenceClassification final : public Head {
 public:
  SequenceClassification(const HeadSource& source, const SequenceClassificationKeys& keys)
      : columns_(source.config.positive_integer("num_labels")),
        pooling_(pooling_of(source.config, keys)),
        padding_id_(source.config.integer_or("pad_token_id", -1)),
        output_((source.weights / keys.output).in_float32(), source.hidden_size, columns_,
                keys.output_bias),
        transform_(make_transform(source.config, source.weights.in_float32(), keys.transform,
                                  source.hidden_size)) {}

  nn::OutputTokens input_tokens() const override {
    return pooling_ == ClassifierPooling::kFirst ? nn::OutputTokens::kClsOnly
                                                 : nn::OutputTokens::kAllTokens;
  }

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    using enum ClassifierPooling;
    if (pooling_ == kMean) return logits(mean_by_sequence(hidden, batch));
    if (pooling_ == kLast) {
      return logits(at::index_select(hidden, 0, last_token_rows(batch, padding_id_)));
    }
    if (pooling_ == kLate) return mean_by_sequence(logits(hidden), batch);
    return logits(hidden);
  }

 private:
  at::Tensor logits(const at::Tensor& rows) const {
    return output_(transform_ ? (*transform_)(rows) : rows);
  }

  int64_t columns_;
  ClassifierPooling pooling_;
  int64_t padding_id_;  ///< −1: none
  nn::Linear output_;
  std::optional<Transform> transform_;
};

}  // namespace

std::unique_ptr<Head> make(const SequenceClassificationHead& /*options*/,
                           const HeadSource& source) {
  return std::make_unique<SequenceClassification>(source, source.keys.sequence_classification);
}

}  // namespace backend::heads
