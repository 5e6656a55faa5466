#include "encoder/nn/shared_prefixes.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace backend::nn {
namespace {

/// Part of the tokens that must be saved: selecting rows takes time, too.
constexpr int64_t kLeastPart = 16;

std::span<const int64_t> tokens_of_sequence(const PackedBatch& batch, size_t sequence) {
  const auto* const ids = batch.input_ids.const_data_ptr<int64_t>();
  return {ids + batch.cu_seqlens[sequence], ids + batch.cu_seqlens[sequence + 1]};
}

int64_t shared_count(std::span<const int64_t> first, std::span<const int64_t> second) {
  return std::ranges::mismatch(first, second).in1 - first.begin();
}

}  // namespace

std::optional<SharedPrefixes> SharedPrefixes::find(const PackedBatch& batch) {
  if (batch.sequences() < 2 || !batch.tasks.empty()) return std::nullopt;
  SharedPrefixes shared(batch);
  const int64_t saved = batch.tokens() - shared.token_of_row_.size(0);
  if (saved * kLeastPart < batch.tokens()) return std::nullopt;
  return shared;
}

SharedPrefixes::SharedPrefixes(const PackedBatch& batch)
    : row_of_token_(at::empty({batch.tokens()}, at::kLong)),
      first_rows_(batch.order.size()),
      prefixes_(batch.order.size()) {
  // In lexicographic order, no sequence shares more with a sequence than the one before it.
  std::vector<size_t> sorted(batch.order.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::ranges::stable_sort(sorted, [&](size_t a, size_t b) {
    return std::ranges::lexicographical_compare(tokens_of_sequence(batch, a),
                                                tokens_of_sequence(batch, b));
  });
  auto* const rows = row_of_token_.mutable_data_ptr<int64_t>();
  std::vector<int64_t> tokens;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const size_t sequence = sorted[i];
    const int64_t start = batch.cu_seqlens[sequence], end = batch.cu_seqlens[sequence + 1];
    int64_t prefix = 0;
    if (i > 0) {
      prefix = shared_count(tokens_of_sequence(batch, sequence),
                            tokens_of_sequence(batch, sorted[i - 1]));
      std::copy_n(rows + batch.cu_seqlens[sorted[i - 1]], prefix, rows + start);
    }
    first_rows_[sequence] = static_cast<int64_t>(tokens.size());
    prefixes_[sequence] = prefix;
    for (int64_t token = start + prefix; token < end; ++token) {
      rows[token] = static_cast<int64_t>(tokens.size());
      tokens.push_back(token);
    }
  }
  token_of_row_ = at::empty({static_cast<int64_t>(tokens.size())}, at::kLong);
  std::ranges::copy(tokens, token_of_row_.mutable_data_ptr<int64_t>());
}

at::Tensor SharedPrefixes::rows_of(const at::Tensor& by_token) const {
  return at::index_select(by_token, 0, token_of_row_);
}

RotaryEmbedding::Angles SharedPrefixes::rows_of(const RotaryEmbedding::Angles& by_token) const {
  return {.cos = rows_of(by_token.cos), .sin = rows_of(by_token.sin)};
}

at::Tensor SharedPrefixes::tokens_of(const at::Tensor& by_row) const {
  return at::index_select(by_row, 0, row_of_token_);
}

}  // namespace backend::nn
