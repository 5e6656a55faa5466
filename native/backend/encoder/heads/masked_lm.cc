// Sparse embeddings (SPLADE): a weight for each entry of the vocabulary. Inputs can request the
// mean of the hidden states instead. Source: transformers, classes …ForMaskedLM of each
// architecture; sentence-transformers, sparse_encoder/modules/splade_pooling.py (SpladePooling).
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "encoder/heads/head.h"
#include "encoder/modules/module.h"
#include "encoder/nn/max_inplace.h"

namespace backend::heads {
namespace {

/// Tokens whose logits are in memory at the same time. A longer sequence is processed alone.
constexpr int64_t kTokensAtOnce = 128;

/// Loads the bias, stored as `<decoder>.bias` or `<bias>.bias`. Tied models may have either or
/// both; untied models use the decoder's.
at::Tensor decoder_bias(const HeadSource& source, const MaskedLmKeys& keys, bool is_tied) {
  const char* first = is_tied ? keys.bias : keys.decoder;
  const char* second = is_tied ? keys.decoder : keys.bias;
  if (first == nullptr) std::swap(first, second);
  const auto has = [&](const char* key) { return key && (source.weights / key).has("bias"); };
  if (!has(first) && has(second)) std::swap(first, second);
  if (second != nullptr) (source.weights / second).ignore("bias");
  return (source.weights / first).get("bias", {source.vocabulary_size});
}

bool is_tied(const HeadSource& source, const MaskedLmKeys& keys) {
  return keys.decoder == nullptr || source.config.boolean_or("tie_word_embeddings", true);
}

nn::Linear make_decoder(const HeadSource& source, const MaskedLmKeys& keys, int64_t size) {
  at::Tensor bias;
  if (bias_of(source.config, keys.bias_key, true) == nn::Bias::kYes) {
    bias = decoder_bias(source, keys, is_tied(source, keys));
  }
  return {decoder_weights(source, keys).get_as_stored("weight", {source.vocabulary_size, size}),
          bias, source.weights.compute_types()};
}

class MaskedLm final : public Head {
 public:
  MaskedLm(const MaskedLmHead& options, const HeadSource& source, const MaskedLmKeys& keys)
      : options_(options),
        columns_(source.vocabulary_size),
        transform_(
            make_transform(source.config, source.weights, keys.transform, source.hidden_size)),
        decoder_(make_decoder(source, keys, transform_ ? transform_->size() : source.hidden_size)),
        mean_(modules::make(PoolingModule{.modes = {PoolingMode::kMean}}, source.hidden_size)) {}

  nn::OutputTokens input_tokens() const override { return nn::OutputTokens::kAllTokens; }
  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    return weights(hidden, batch, [](size_t) { return true; });
  }

  std::vector<scheduler::Output> outputs(const at::Tensor& hidden, const nn::PackedBatch& packed,
                                         Batch sequences) const override {
    if (std::ranges::none_of(sequences, is_dense)) return Head::outputs(hidden, packed, sequences);
    const auto is_sparse = [&](size_t i) { return !is_dense(sequences[packed.order[i]]); };
    const at::Tensor means = (*mean_)(hidden, packed);
    at::Tensor sparse;
    if (!std::ranges::all_of(sequences, is_dense)) sparse = weights(hidden, packed, is_sparse);
    std::vector<scheduler::Output> outputs(sequences.size());
    for (size_t i = 0; i < packed.order.size(); ++i) {
      const at::Tensor& rows = is_sparse(i) ? sparse : means;
      const auto* const row = rows.const_data_ptr<float>() + static_cast<int64_t>(i) * rows.size(1);
      outputs[packed.order[i]].values.assign(row, row + rows.size(1));
    }
    return outputs;
  }

 private:
  static bool is_dense(const Sequence* sequence) {
    return sequence->parts && sequence->parts->dense;
  }

  /// Weights of the sequences for which is_wanted(packed position) is true. Rows of the others are
  /// not initialized.
  template <class IsWanted>
  at::Tensor weights(const at::Tensor& hidden, const nn::PackedBatch& batch,
                     const IsWanted& is_wanted) const {
    const at::Tensor transformed = transform_ ? (*transform_)(hidden) : hidden;
    at::Tensor result = at::empty({batch.sequences(), columns_}, transformed.options());
    auto* const all = result.mutable_data_ptr<float>();
    const auto& ends = batch.cu_seqlens;
    for (size_t first = 0, last = 0; first + 1 < ends.size(); first = last) {
      ++last;
      if (!is_wanted(first)) continue;
      while (last + 1 < ends.size() && is_wanted(last) &&
             ends[last + 1] - ends[first] <= kTokensAtOnce) {
        ++last;
      }
      const at::Tensor logits =
          decoder_(transformed.narrow(0, ends[first], ends[last] - ends[first]));
      const auto* token = logits.const_data_ptr<float>();
      for (size_t i = first; i < last; ++i) {
        auto* const row = all + static_cast<int64_t>(i) * columns_;
        begin(token, row);
        token += columns_;
        for (int64_t k = ends[i] + 1; k < ends[i + 1]; ++k, token += columns_) add(token, row);
        finish(row);
      }
    }
    return result;
  }

  float activated(float logit) const {
    const float once = std::log1p(std::max(logit, 0.0F));
    return options_.log_twice ? std::log1p(once) : once;
  }

  void begin(const float* logits, float* row) const {
    std::transform(logits, logits + columns_, row,
                   [this](float logit) { return options_.sum ? activated(logit) : logit; });
  }

  /// Pools the logits instead of the activations: the logarithm is monotonic.
  void add(const float* logits, float* row) const {
    if (options_.sum) {
      for (int64_t i = 0; i < columns_; ++i) row[i] += activated(logits[i]);
    } else {
      nn::max_inplace(logits, columns_, row);
    }
  }

  void finish(float* row) const {
    if (options_.sum) return;
    // most are 0; NaN stays NaN
    for (int64_t i = 0; i < columns_; ++i) row[i] = row[i] <= 0 ? 0 : activated(row[i]);
  }

  MaskedLmHead options_;
  int64_t columns_;
  std::optional<Transform> transform_;
  nn::Linear decoder_;
  std::unique_ptr<modules::Module> mean_;
};

}  // namespace

/// A file saved from a tied model has the word embedding table only.
Weights decoder_weights(const HeadSource& source, const MaskedLmKeys& keys) {
  Weights words = source.base / keys.word_embeddings;
  if (keys.decoder == nullptr) return words;
  Weights decoder = source.weights / keys.decoder;
  return decoder.has("weight") || !is_tied(source, keys) ? decoder : words;
}

std::unique_ptr<Head> make(const MaskedLmHead& options, const HeadSource& source) {
  source.weights.set_head_name("language-modeling");
  const MaskedLmKeys* const other = source.keys.masked_lm_not_legacy;
  const bool is_other = other != nullptr && !source.config.boolean_or("legacy", true);
  return std::make_unique<MaskedLm>(options, source, is_other ? *other : source.keys.masked_lm);
}

}  // namespace backend::heads
