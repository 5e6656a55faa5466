// Scores of a decoder: the logits of one or two tokens after the last token of a text.
// Source: sentence-transformers, cross_encoder/modules/logit_score.py (LogitScore).
#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

#include <string>
#include <variant>
#include <vector>

#include "common/error.h"
#include "encoder/heads/head.h"

namespace backend::heads {
namespace {

int64_t id_of(const TokenName& token, const HeadSource& source) {
  const auto* const text = std::get_if<std::string>(&token);
  const int64_t id = text != nullptr ? source.first_token_id(*text) : std::get<int64_t>(token);
  if (id >= 0 && id < source.vocabulary_size) return id;
  const std::string found = text != nullptr ? "\"" + *text + "\"" : std::to_string(id);
  throw common::LoadError("LogitScore: expected a token of the vocabulary, which has " +
                          std::to_string(source.vocabulary_size) + ", received " + found);
}

/// Row numbers of each sequence's last token.
at::Tensor last_rows(const nn::PackedBatch& batch) {
  std::vector<int64_t> rows(batch.cu_seqlens.begin() + 1, batch.cu_seqlens.end());
  for (int64_t& row : rows) --row;
  return at::from_blob(rows.data(), {static_cast<int64_t>(rows.size())}, at::kLong).clone();
}

/// Computes in float32: the scores are sensitive to rounding.
class LogitScore final : public Head {
 public:
  LogitScore(const LogitScoreHead& options, const HeadSource& source)
      : tokens_(rows_of(options, source), at::Tensor(), ComputeTypes()) {}

  nn::OutputTokens input_tokens() const override { return nn::OutputTokens::kAllTokens; }

  int64_t columns() const override { return 1; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    at::Tensor logits = tokens_(at::index_select(hidden, 0, last_rows(batch)));
    if (tokens_.outputs() == 1) return logits;
    return logits.narrow(1, 0, 1) - logits.narrow(1, 1, 1);
  }

 private:
  /// Decoder weights of the tokens: [1 or 2, hidden].
  static at::Tensor rows_of(const LogitScoreHead& options, const HeadSource& source) {
    std::vector<int64_t> ids{id_of(options.true_token, source)};
    if (options.false_token) ids.push_back(id_of(*options.false_token, source));
    const at::Tensor table =
        decoder_weights(source, source.keys.masked_lm)
            .get_as_stored("weight", {source.vocabulary_size, source.hidden_size});
    const at::Tensor indices =
        at::from_blob(ids.data(), {static_cast<int64_t>(ids.size())}, at::kLong);
    return at::index_select(table, 0, indices).to(at::kFloat);
  }

  nn::Linear tokens_;
};

}  // namespace

std::unique_ptr<Head> make(const LogitScoreHead& options, const HeadSource& source) {
  source.weights.set_head_name("language-modeling");
  return std::make_unique<LogitScore>(options, source);
}

}  // namespace backend::heads
