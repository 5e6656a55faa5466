#include "nn/attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>

namespace backend::nn {

at::Tensor attend_by_group(const at::Tensor& query_key_value, const PackedBatch& batch,
                           int64_t num_heads, GroupAttention attend) {
  const int64_t hidden = query_key_value.size(1) / 3;
  const int64_t head_size = hidden / num_heads;
  at::Tensor output = at::empty({batch.tokens(), hidden}, query_key_value.options());
  for (size_t i = 0; i < batch.groups.size(); ++i) {
    const LengthGroup& group = batch.groups[i];
    const int64_t rows = group.sequences * group.length;
    // Strided views, no copy: [sequences, length, 3, heads, head_size] → 3 × [s, heads, l, size].
    const at::Tensor heads = query_key_value.narrow(0, group.first_token, rows)
                                 .view({group.sequences, group.length, 3, num_heads, head_size})
                                 .permute({2, 0, 3, 1, 4});
    const at::Tensor context = attend(heads[0], heads[1], heads[2], i);
    output.narrow(0, group.first_token, rows)
        .view({group.sequences, group.length, num_heads, head_size})
        .copy_(context.transpose(1, 2));
  }
  return output;
}

at::Tensor self_attention(const at::Tensor& query_key_value, const PackedBatch& batch,
                          int64_t num_heads, std::span<const at::Tensor> biases) {
  return attend_by_group(
      query_key_value, batch, num_heads,
      [&](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, size_t group) {
        std::optional<at::Tensor> bias;
        if (!biases.empty() && biases[group].defined()) bias = biases[group];
        return at::scaled_dot_product_attention(query, key, value, bias);
      });
}

}  // namespace backend::nn
