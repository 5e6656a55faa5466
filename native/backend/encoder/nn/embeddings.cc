#include "encoder/nn/embeddings.h"

#include <ATen/ops/index_select.h>

#include <utility>

#include "encoder/nn/task_rows.h"

namespace backend::nn {

Embedding::Embedding(const Weights& weights, int64_t rows, int64_t size)
    : table_(weights.get_as_stored("weight", {rows, size})) {
  std::vector<Update> updates;
  for (const auto& [down, up, task] : weights.lora_embedding_factors(rows, size)) {
    updates.push_back({task, down, {up, at::Tensor(), Dtype::kFloat32}});
  }
  if (updates.empty()) return;
  updates_ = std::make_shared<const std::vector<Update>>(std::move(updates));
}

at::Tensor Embedding::operator()(const at::Tensor& indices) const {
  at::Tensor rows = at::index_select(table_, 0, indices).to(at::kFloat);
  if (!updates_) return rows;
  std::vector<TaskRows> of_tasks;
  if (updates_->back().task) of_tasks = ScopedTasks::rows_of(indices.size(0));
  for (const Update& update : *updates_) {
    if (!update.task) add(update, rows, indices);
    for (const auto& [task, first, count] : of_tasks) {
      if (task != update.task) continue;
      add(update, rows.narrow(0, first, count), indices.narrow(0, first, count));
    }
  }
  return rows;
}

void Embedding::add(const Update& update, const at::Tensor& y, const at::Tensor& indices) {
  const at::Tensor down = at::index_select(update.down, 0, indices).to(at::kFloat);
  update.up.into(down, 0, kernels::Epilogue::kAdd, y);
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
