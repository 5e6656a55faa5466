#include "encoder/nn/short_convolution.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "packed/parallel_for.h"

namespace backend::nn {

struct ShortConvolution::Rows {
  const float* inputs;  ///< of the first token of the sequence
  const float* gates;   ///< of the first token of the sequence
  int64_t stride;
  float* results;       ///< of the first token of the sequence, [tokens, hidden]
  int64_t tokens;       ///< of the sequence
  int64_t first, last;  ///< range of the rows to compute
};

ShortConvolution::ShortConvolution(const Weights& weights, int64_t hidden, int64_t length,
                                   int64_t tokens_before, Bias bias)
    : hidden_(hidden),
      tokens_before_(tokens_before),
      input_(weights / "in_proj", hidden, 3 * hidden, bias),
      kernel_((weights / "conv")
                  .get("weight", {hidden, 1, length})
                  .squeeze(1)
                  .transpose(0, 1)
                  .contiguous()),
      output_(weights / "out_proj", hidden, hidden, bias) {
  if (bias == Bias::kYes) bias_ = (weights / "conv").get("bias", {hidden});
}

void ShortConvolution::convolve(const Rows& rows) const {
  const auto* const kernel = kernel_.const_data_ptr<float>();
  const float* const bias = bias_.defined() ? bias_.const_data_ptr<float>() : nullptr;
  for (int64_t token = rows.first; token < rows.last; ++token) {
    float* const result = rows.results + token * hidden_;
    if (bias != nullptr) {
      std::copy_n(bias, hidden_, result);
    } else {
      std::fill_n(result, hidden_, 0.0F);
    }
    for (int64_t i = 0; i < kernel_.size(0); ++i) {
      const int64_t from = token + i - tokens_before_;
      if (from < 0 || from >= rows.tokens) continue;
      const float* const input = rows.inputs + from * rows.stride;
      const float* const weight = kernel + i * hidden_;
      for (int64_t j = 0; j < hidden_; ++j) result[j] += weight[j] * input[j];
    }
    const float* const gate = rows.gates + token * rows.stride;
    for (int64_t j = 0; j < hidden_; ++j) result[j] *= gate[j];
  }
}

at::Tensor ShortConvolution::add_to(at::Tensor y, const at::Tensor& input,
                                    const PackedBatch& batch) const {
  /// Tokens of a part: enough work to start a thread.
  constexpr int64_t kPartTokens = 64;
  const at::Tensor projected = input_(input);
  at::Tensor inputs = projected.narrow(1, 0, hidden_);
  inputs.mul_(projected.narrow(1, 2 * hidden_, hidden_));
  const at::Tensor result = at::empty({input.size(0), hidden_});
  std::vector<Rows> parts;
  for (size_t i = 0; i + 1 < batch.cu_seqlens.size(); ++i) {
    const int64_t start = batch.cu_seqlens[i], tokens = batch.cu_seqlens[i + 1] - start;
    const float* const row = projected.const_data_ptr<float>() + start * projected.stride(0);
    for (int64_t first = 0; first < tokens; first += kPartTokens) {
      parts.push_back({.inputs = row,
                       .gates = row + hidden_,
                       .stride = projected.stride(0),
                       .results = result.mutable_data_ptr<float>() + start * hidden_,
                       .tokens = tokens,
                       .first = first,
                       .last = std::min(first + kPartTokens, tokens)});
    }
  }
  parallel_for(static_cast<int64_t>(parts.size()),
               [&](int64_t part) { convolve(parts[static_cast<size_t>(part)]); });
  return output_.add_to(std::move(y), result);
}

}  // namespace backend::nn
