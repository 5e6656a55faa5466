// bge-m3: dense, sparse and ColBERT embeddings.
// Source: FlagEmbedding, finetune/embedder/encoder_only/m3/modeling.py (EncoderOnlyEmbedderM3Model)
// and inference/embedder/encoder_only/m3.py (M3Embedder.encode_single_device).
#include <ATen/ops/cat.h>

#include <algorithm>
#include <map>

#include "encoder/heads/head.h"
#include "encoder/modules/module.h"

namespace backend::heads {
namespace {

/// A linear layer with files of its own, in float32: it is small, and its result is the embedding.
nn::Linear make_linear(const char* type, const std::vector<std::string>& files, int64_t inputs,
                       int64_t outputs) {
  return modules::with_own_weights(type, files, [&](const Weights& weights) {
    return nn::Linear(weights.in_float32(), inputs, outputs);
  });
}

class BgeM3 final : public Head {
 public:
  BgeM3(const BgeM3Head& options, int64_t hidden_size)
      : columns_(hidden_size),
        normalizes_(options.normalizes),
        sparse_(make_linear("sparse_linear", options.sparse_files, hidden_size, 1)),
        colbert_(make_linear("colbert_linear", options.colbert_files, hidden_size, hidden_size)),
        normalize_(modules::make(NormalizeModule(), hidden_size)) {}

  nn::OutputTokens input_tokens() const override { return nn::OutputTokens::kAllTokens; }
  int64_t columns() const override { return columns_; }

  /// The dense embeddings.
  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    const at::Tensor first = nn::gather_output_rows(hidden, batch, nn::OutputTokens::kClsOnly);
    return normalizes_ ? (*normalize_)(first, batch) : first;
  }

  std::vector<scheduler::Output> outputs(const at::Tensor& hidden, const nn::PackedBatch& packed,
                                         Batch sequences) const override {
    const auto any = [&](bool EmbeddingParts::* part) {
      return std::ranges::any_of(sequences,
                                 [&](const Sequence* each) { return parts_of(*each).*part; });
    };
    const at::Tensor dense = (*this)(hidden, packed).contiguous();
    at::Tensor weights, vectors;
    if (any(&EmbeddingParts::sparse)) weights = sparse_(hidden);
    if (any(&EmbeddingParts::colbert)) vectors = (*normalize_)(colbert_(hidden), packed);
    std::vector<scheduler::Output> outputs(sequences.size());
    for (size_t i = 0; i < packed.order.size(); ++i) {
      const Sequence& sequence = *sequences[packed.order[i]];
      const int64_t first = packed.cu_seqlens[i], count = packed.cu_seqlens[i + 1] - first;
      std::vector<float>& values = outputs[packed.order[i]].values;
      const EmbeddingParts parts = parts_of(sequence);
      if (parts.dense) append(dense, static_cast<int64_t>(i), 1, values);
      if (parts.sparse) append_entries(weights, first, sequence, values);
      if (parts.colbert) append(vectors, first + 1, count - 1, values);
    }
    return outputs;
  }

 private:
  static EmbeddingParts parts_of(const Sequence& sequence) {
    return sequence.parts.value_or(EmbeddingParts());
  }

  static void append(const at::Tensor& rows, int64_t first, int64_t count,
                     std::vector<float>& values) {
    const auto* const from = rows.const_data_ptr<float>() + first * rows.size(1);
    values.insert(values.end(), from, from + count * rows.size(1));
  }

  /// Maximum weight of each id above 0.
  static void append_entries(const at::Tensor& weights, int64_t first, const Sequence& sequence,
                             std::vector<float>& values) {
    const auto* const weight = weights.const_data_ptr<float>() + first;
    std::map<int64_t, float> entries;
    for (size_t token = 0; token < sequence.input_ids.size(); ++token) {
      if (std::ranges::binary_search(sequence.skiplist_rows, token) || weight[token] <= 0) continue;
      float& entry = entries[sequence.input_ids[token]];
      entry = std::max(entry, weight[token]);
    }
    values.push_back(static_cast<float>(entries.size()));
    for (const auto& [id, value] : entries) {
      values.push_back(static_cast<float>(id));  // exact: ids are below 2^24
      values.push_back(value);
    }
  }

  int64_t columns_;
  bool normalizes_;
  nn::Linear sparse_;
  nn::Linear colbert_;
  std::unique_ptr<modules::Module> normalize_;
};

}  // namespace

std::unique_ptr<Head> make(const BgeM3Head& options, const HeadSource& source) {
  auto head = std::make_unique<BgeM3>(options, source.hidden_size);
  source.weights.ignore_outside_base();
  return head;
}

}  // namespace backend::heads
