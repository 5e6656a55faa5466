#include "encoder/nn/attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "encoder/nn/shared_prefixes.h"
#include "kernels/attention.h"
#include "packed/parallel_for.h"

namespace backend::nn {
namespace {

/// Maximum number of parallel parts; each needs its own scratch memory.
constexpr int64_t kMaxParts = 8;

/// Fixed cost of a query, in tokens: packing of a head's keys and values, and the exponentials of a
/// short text (bench/products.cc).
constexpr int64_t kOverheadTokens = 32;

/// Arguments of the kernel for the heads of one sequence.
struct Sequence {
  kernels::AttentionHead first_head;
  int64_t bias_head_stride;
  int64_t heads_per_key;         ///< query heads that share a head of keys and values
  const float* distance_slopes;  ///< [heads]; null: none
  const float* sinks;            ///< [heads]; null: none

  kernels::AttentionHead head(int64_t index) const {
    kernels::AttentionHead head = first_head;
    head.query += index * head.head_size;
    head.key += index / heads_per_key * head.head_size;
    head.value += index / heads_per_key * head.head_size;
    if (distance_slopes != nullptr) head.distance_slope = distance_slopes[index];
    if (sinks != nullptr) head.sink = sinks[index];
    head.result += index * head.head_size;
    if (head.bias != nullptr) head.bias += index * bias_head_stride;
    if (head.positions != nullptr) head.positions += index;
    return head;
  }
};

/// Biases of the length groups, expanded to [sequences, heads, rows, length], with contiguous rows.
std::vector<at::Tensor> expanded(std::span<const at::Tensor> biases, const PackedBatch& batch,
                                 int64_t num_heads) {
  std::vector<at::Tensor> result;
  result.reserve(biases.size());
  for (size_t i = 0; i < biases.size(); ++i) {
    const at::Tensor bias = biases[i].stride(-1) == 1 ? biases[i] : biases[i].contiguous();
    result.push_back(bias.expand({batch.groups[i].sequences, num_heads, -1, -1}));
  }
  return result;
}

/// Sequences in packed order, the longest last.
std::vector<Sequence> sequences_of(const Projections& projections, const PackedBatch& batch,
                                   const Sequence& common, std::span<const at::Tensor> biases,
                                   const SharedPrefixes* prefixes) {
  const bool first_only = projections.outputs == OutputTokens::kClsOnly;
  std::vector<Sequence> sequences;
  sequences.reserve(static_cast<size_t>(batch.sequences()));
  for (size_t i = 0; i < batch.groups.size(); ++i) {
    const auto& [first_token, count, length] = batch.groups[i];
    for (int64_t j = 0; j < count; ++j) {
      const int64_t token = first_token + j * length;
      const size_t index = sequences.size();
      const int64_t prefix = prefixes != nullptr ? prefixes->prefix(index) : 0;
      int64_t row = first_only ? static_cast<int64_t>(index) : token;
      if (prefixes != nullptr) row = prefixes->first_row(index);
      Sequence sequence = common;
      kernels::AttentionHead& head = sequence.first_head;
      head.query += row * head.query_stride;
      head.queries = first_only ? 1 : length - prefix;
      head.first_query = prefix;
      head.key += token * head.key_value_stride;
      head.value += token * head.key_value_stride;
      head.tokens = batch.attended_tokens[index];
      head.result += row * head.result_stride;
      if (!biases.empty()) {
        const at::Tensor& bias = biases[i];
        head.bias = bias.const_data_ptr<float>() + j * bias.stride(0);
        head.bias_stride = bias.stride(2);
        sequence.bias_head_stride = bias.stride(1);
      }
      sequences.push_back(sequence);
    }
  }
  return sequences;
}

}  // namespace

at::Tensor gather_output_rows(const at::Tensor& hidden, const PackedBatch& batch,
                              OutputTokens outputs) {
  if (outputs == OutputTokens::kAllTokens) return hidden;
  return at::index_select(hidden, 0, batch.first_token_rows());
}

Projections Projections::project(const at::Tensor& hidden, const at::Tensor& kept,
                                 const Linear& layer, int64_t query_size, OutputTokens outputs) {
  const int64_t rest = layer.outputs() - query_size;
  const kernels::Format format = layer.compute_types().attention;
  if (outputs == OutputTokens::kClsOnly) {
    return {.query = layer.slice(0, query_size)(kept),
            .key_value = layer.slice(query_size, rest)(hidden),
            .outputs = outputs,
            .format = format};
  }
  const at::Tensor all = layer(hidden);
  return {.query = all.narrow(1, 0, query_size),
          .key_value = all.narrow(1, query_size, rest),
          .outputs = outputs,
          .format = format};
}

at::Tensor self_attention(const Projections& projections, const PackedBatch& batch,
                          int64_t num_heads, const AttentionOptions& options,
                          const SharedPrefixes* prefixes) {
  at::Tensor result = at::empty(projections.query.sizes(), projections.query.options());
  const int64_t width = result.size(1), head_size = width / num_heads;
  const int64_t key_size = projections.key_value.size(1) / 2;
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(head_size)));
  const auto* const key = projections.key_value.const_data_ptr<float>();
  const kernels::AttentionHead common{.query = projections.query.const_data_ptr<float>(),
                                      .queries = 0,
                                      .query_stride = projections.query.stride(0),
                                      .key = key,
                                      .value = key + key_size,
                                      .tokens = 0,
                                      .key_value_stride = projections.key_value.stride(0),
                                      .head_size = head_size,
                                      .scale = static_cast<float>(scale),
                                      .window = options.window,
                                      .bias = nullptr,
                                      .bias_stride = 0,
                                      .positions = options.positions.data(),
                                      .result = result.mutable_data_ptr<float>(),
                                      .result_stride = width,
                                      .is_causal = options.is_causal};
  const std::vector<at::Tensor> biases = expanded(options.biases, batch, num_heads);
  const Sequence shared{.first_head = common,
                        .bias_head_stride = 0,
                        .heads_per_key = width / key_size,
                        .distance_slopes = options.distance_slopes.data(),
                        .sinks = options.sinks.data()};
  const std::vector<Sequence> sequences =
      sequences_of(projections, batch, shared, biases, prefixes);
  int64_t work = 0;
  const int64_t products = options.positions.empty() ? 2 : 4;
  for (const Sequence& sequence : sequences) {
    const kernels::AttentionHead& head = sequence.first_head;
    work += products * head.queries * (head.tokens + kOverheadTokens) * head.head_size * num_heads;
  }
  const int64_t units = static_cast<int64_t>(sequences.size()) * num_heads;
  const int64_t most_parts =
      ScopedThreadPool::current() != nullptr ? std::min(kMaxParts, units) : 1;
  const int64_t parts = std::clamp<int64_t>(work / kMinMultiplyAddsPerPart, 1, most_parts);
  kernels::AttentionHead longest = sequences.back().first_head;
  for (const Sequence& sequence : sequences) {
    longest.queries = std::max(longest.queries, sequence.first_head.queries);
  }
  longest.tokens =
      batch.max_length();  // other sequences of a group may attend to all of their tokens
  const at::Tensor scratch =
      at::empty({parts, kernels::attention_scratch(projections.format, longest)});
  auto* const memory = scratch.mutable_data_ptr<float>();
  parallel_for(parts, [&](int64_t part) {
    for (int64_t unit = part * units / parts; unit < (part + 1) * units / parts; ++unit) {
      const Sequence& sequence = sequences[static_cast<size_t>(unit / num_heads)];
      kernels::attend(projections.format, sequence.head(unit % num_heads),
                      memory + part * scratch.stride(0));
    }
  });
  return result;
}

}  // namespace backend::nn
