// Logits of each token.
// Source: transformers, classes …ForTokenClassification of each architecture.
#include "encoder/heads/head.h"

namespace backend::heads {
namespace {

/// Its layers always compute in float32, like those of SequenceClassification.
class TokenClassification final : public Head {
 public:
  TokenClassification(const HeadSource& source, const TokenClassificationKeys& keys)
      : columns_(source.config.positive_integer("num_labels")),
        output_((source.weights / keys.output).in_float32(), source.hidden_size, columns_),
        transform_(make_transform(source.config, source.weights.in_float32(), keys.transform,
                                  source.hidden_size)) {}

  nn::OutputTokens input_tokens() const override { return nn::OutputTokens::kAllTokens; }
  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& /*batch*/) const override {
    return output_(transform_ ? (*transform_)(hidden) : hidden);
  }

 private:
  int64_t columns_;
  nn::Linear output_;
  std::optional<Transform> transform_;
};

}  // namespace

std::unique_ptr<Head> make(const TokenClassificationHead& /*options*/, const HeadSource& source) {
  return std::make_unique<TokenClassification>(source, source.keys.token_classification);
}

}  // namespace backend::heads
