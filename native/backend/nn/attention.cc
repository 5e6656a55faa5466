#include "nn/attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/scaled_dot_product_attention.h>

namespace backend::nn {
namespace {

/// Rows of a group's sequences → [sequences, heads, rows a sequence, head_size], a strided view.
at::Tensor by_head(const at::Tensor& states, int64_t first_row, int64_t sequences, int64_t length,
                   int64_t num_heads) {
  return states.narrow(0, first_row, sequences * length)
      .view({sequences, length, num_heads, states.size(1) / num_heads})
      .transpose(1, 2);
}

}  // namespace

at::Tensor kept_tokens(const at::Tensor& hidden, const PackedBatch& batch, Outputs outputs) {
  if (outputs == Outputs::kAllTokens) return hidden;
  return at::index_select(hidden, 0, batch.first_token_rows());
}

Projections Projections::of(const at::Tensor& hidden, const at::Tensor& kept, const Linear& layer,
                            Outputs outputs) {
  const int64_t size = hidden.size(1);
  if (outputs == Outputs::kFirstTokens) {
    return {.query = layer.outputs(0, size)(kept),
            .key_value = layer.outputs(size, 2 * size)(hidden),
            .outputs = outputs};
  }
  const at::Tensor all = layer(hidden);
  return {.query = all.narrow(1, 0, size),
          .key_value = all.narrow(1, size, 2 * size),
          .outputs = outputs};
}

at::Tensor attend_by_group(const Projections& projections, const PackedBatch& batch,
                           int64_t num_heads, GroupAttention attend) {
  const at::Tensor& query = projections.query;
  const int64_t hidden = query.size(1);
  const at::Tensor key = projections.key_value.narrow(1, 0, hidden);
  const at::Tensor value = projections.key_value.narrow(1, hidden, hidden);
  at::Tensor output = at::empty({query.size(0), hidden}, query.options());
  int64_t first_sequence = 0;
  for (size_t i = 0; i < batch.groups.size(); ++i) {
    const auto& [first_token, sequences, length] = batch.groups[i];
    const bool first_only = projections.outputs == Outputs::kFirstTokens;
    const int64_t first_row = first_only ? first_sequence : first_token;
    const int64_t rows = first_only ? 1 : length;
    const at::Tensor context = attend(by_head(query, first_row, sequences, rows, num_heads),
                                      by_head(key, first_token, sequences, length, num_heads),
                                      by_head(value, first_token, sequences, length, num_heads), i);
    by_head(output, first_row, sequences, rows, num_heads).copy_(context);
    first_sequence += sequences;
  }
  return output;
}

at::Tensor self_attention(const Projections& projections, const PackedBatch& batch,
                          int64_t num_heads, std::span<const at::Tensor> biases) {
  return attend_by_group(
      projections, batch, num_heads,
      [&](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, size_t group) {
        std::optional<at::Tensor> bias;
        if (!biases.empty() && biases[group].defined()) {
          bias = biases[group].narrow(-2, 0, query.size(2));
        }
        return at::scaled_dot_product_attention(query, key, value, bias);
      });
}

}  // namespace backend::nn
