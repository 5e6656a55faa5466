// From the tokens' states to one weight for each word of the vocabulary: SPLADE.
// Source: transformers, the classes …ForMaskedLM of each family's modeling file;
// sentence-transformers, sparse_encoder/modules/splade_pooling.py (SpladePooling).
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "encoder/heads/head.h"
#include "encoder/nn/larger.h"

namespace backend::heads {
namespace {

/// Logits of this many tokens, or of one sequence that has more, are there at once.
constexpr int64_t kTokensAtOnce = 128;

/// Under which of two names the bias stands. The two are one, and a file may have either or both,
/// unless the decoder is untied, whose own is the one then.
at::Tensor decoder_bias(const HeadSource& source, const MaskedLmKeys& keys, bool is_tied) {
  const char* first = is_tied ? keys.bias : keys.decoder;
  const char* second = is_tied ? keys.decoder : keys.bias;
  if (first == nullptr) std::swap(first, second);
  const auto has = [&](const char* key) { return key && (source.weights / key).has("bias"); };
  if (!has(first) && has(second)) std::swap(first, second);
  if (second != nullptr) (source.weights / second).ignore("bias");
  return (source.weights / first).get("bias", {source.vocabulary_size});
}

/// The table of words, in most: a file that was saved from a tied model has it once.
nn::Linear make_decoder(const HeadSource& source, const MaskedLmKeys& keys, int64_t size) {
  const bool is_tied =
      keys.decoder == nullptr || source.config.boolean_or("tie_word_embeddings", true);
  const bool is_own =
      !is_tied || (keys.decoder != nullptr && (source.weights / keys.decoder).has("weight"));
  const Weights from = is_own ? source.weights / keys.decoder : source.base / keys.words;
  at::Tensor bias;
  if (bias_of(source.config, keys.bias_key, true) == nn::Bias::kYes) {
    bias = decoder_bias(source, keys, is_tied);
  }
  return {from.get_as_stored("weight", {source.vocabulary_size, size}), bias,
          source.weights.numbers()};
}

class MaskedLm final : public Head {
 public:
  MaskedLm(const MaskedLmHead& what, const HeadSource& source, const MaskedLmKeys& keys)
      : what_(what),
        columns_(source.vocabulary_size),
        transform_(source.config, source.weights, keys.transform, source.hidden_size),
        decoder_(make_decoder(source, keys, transform_.size())) {}

  nn::Outputs reads() const override { return nn::Outputs::kAllTokens; }
  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    const at::Tensor transformed = transform_(hidden);
    at::Tensor weights = at::empty({batch.sequences(), columns_}, transformed.options());
    auto* row = weights.mutable_data_ptr<float>();
    const auto& ends = batch.cu_seqlens;
    for (size_t first = 0, last = 0; first + 1 < ends.size(); first = last) {
      do ++last;
      while (last + 1 < ends.size() && ends[last + 1] - ends[first] <= kTokensAtOnce);
      const at::Tensor logits =
          decoder_(transformed.narrow(0, ends[first], ends[last] - ends[first]));
      const auto* token = logits.const_data_ptr<float>();
      for (size_t i = first; i < last; ++i, row += columns_) {
        begin(token, row);
        token += columns_;
        for (int64_t k = ends[i] + 1; k < ends[i + 1]; ++k, token += columns_) add(token, row);
        finish(row);
      }
    }
    return weights;
  }

 private:
  float activated(float logit) const {
    const float once = std::log1p(std::max(logit, 0.0F));
    return what_.log_twice ? std::log1p(once) : once;
  }

  void begin(const float* logits, float* row) const {
    std::transform(logits, logits + columns_, row,
                   [this](float logit) { return what_.sum ? activated(logit) : logit; });
  }

  /// The largest is found of the logits themselves, as the logarithm keeps their order.
  void add(const float* logits, float* row) const {
    if (what_.sum) {
      for (int64_t i = 0; i < columns_; ++i) row[i] += activated(logits[i]);
    } else {
      nn::keep_larger(logits, columns_, row);
    }
  }

  void finish(float* row) const {
    if (what_.sum) return;
    // Most are 0. NaN stays what it is.
    for (int64_t i = 0; i < columns_; ++i) row[i] = row[i] <= 0 ? 0 : activated(row[i]);
  }

  MaskedLmHead what_;
  int64_t columns_;
  Transform transform_;
  nn::Linear decoder_;
};

}  // namespace

std::unique_ptr<Head> make(const MaskedLmHead& what, const HeadSource& source) {
  source.weights.name_head("language-modeling");
  const MaskedLmKeys* const other = source.keys.masked_lm_not_legacy;
  const bool is_other = other != nullptr && !source.config.boolean_or("legacy", true);
  return std::make_unique<MaskedLm>(what, source, is_other ? *other : source.keys.masked_lm);
}

}  // namespace backend::heads
