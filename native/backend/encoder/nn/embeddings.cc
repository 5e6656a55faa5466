#include "encoder/nn/embeddings.h"

#include <ATen/ops/index_select.h>

namespace backend::nn {

Embedding::Embedding(const Weights& weights, int64_t rows, int64_t size)
    : table_(weights.get_as_stored("weight", {rows, size})) {
  const auto factors = weights.lora_embedding_factors(rows, size);
  if (!factors) return;
  down_ = factors->down.t().contiguous();
  up_ = std::make_shared<const PackedLinear>(factors->up, at::Tensor(), Dtype::kFloat32);
}

at::Tensor Embedding::operator()(const at::Tensor& indices) const {
  at::Tensor rows = at::index_select(table_, 0, indices).to(at::kFloat);
  if (up_) up_->into(at::index_select(down_, 0, indices), 0, kernels::Epilogue::kAdd, rows);
  return rows;
}

namespace {

std::optional<Embedding> table(const Weights& weights, int64_t rows, int64_t size) {
  if (rows == 0) return std::nullopt;
  return Embedding(weights, rows, size);
}

}  // namespace

InputEmbeddings::InputEmbeddings(const Weights& weights, const InputEmbeddingsShape& shape)
    : words_(weights / "word_embeddings", shape.words, shape.size),
      positions_(table(weights / "position_embeddings", shape.positions, shape.size)),
      token_types_(table(weights / "token_type_embeddings", shape.token_types, shape.size)) {
  if (shape.task_types > 0) {
    const Weights task_types = weights / "task_type_embeddings";
    task_ = task_types.get("weight", {shape.task_types, shape.size})[0];
  }
  // Constant buffers in files of older releases.
  weights.ignore("position_ids");
  weights.ignore("token_type_ids");
}

at::Tensor InputEmbeddings::operator()(const at::Tensor& input_ids, const at::Tensor& position_ids,
                                       const at::Tensor& token_type_ids) const {
  at::Tensor sum = words_(input_ids);
  if (positions_) sum += (*positions_)(position_ids);
  if (token_types_) sum += (*token_types_)(token_type_ids);
  if (task_.defined()) sum += task_;
  return sum;
}

}  // namespace backend::nn
