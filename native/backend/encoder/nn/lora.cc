#include "encoder/nn/lora.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "encoder/nn/task_rows.h"

namespace backend::nn {
namespace {

PackedLinear pack(const at::Tensor& factor) { return {factor, at::Tensor(), Dtype::kFloat32}; }

}  // namespace

std::shared_ptr<const LoraUpdate> LoraUpdate::make(std::span<const Part> parts) {
  std::vector<at::Tensor> down;
  std::vector<Block> blocks;
  int64_t output = 0, rank = 0;
  for (const auto& [outputs, factors] : parts) {
    for (const LoraFactors& each : factors) {
      blocks.push_back(
          {.task = each.task, .first_output = output, .first_rank = rank, .up = pack(each.up)});
      down.push_back(each.down);
      rank += each.down.size(0);
    }
    output += outputs;
  }
  if (blocks.empty()) return nullptr;
  return std::shared_ptr<const LoraUpdate>(
      new LoraUpdate(pack(at::cat(down)), std::move(blocks)));  // the constructor is private
}

LoraUpdate::LoraUpdate(PackedLinear down, std::vector<Block> blocks)
    : down_(std::move(down)),
      blocks_(std::move(blocks)),
      has_tasks_(std::ranges::any_of(blocks_,
                                     [](const Block& block) { return block.task.has_value(); })) {}

void LoraUpdate::add_to(const at::Tensor& y, const at::Tensor& x, int64_t first) const {
  add_blocks(std::nullopt, y, x, first);
  if (!has_tasks_) return;
  for (const auto& [task, row, count] : ScopedTasks::rows_of(x.size(0))) {
    add_blocks(task, y.narrow(0, row, count), x.narrow(0, row, count), first);
  }
}

void LoraUpdate::add_blocks(std::optional<int64_t> task, const at::Tensor& y, const at::Tensor& x,
                            int64_t first) const {
  const int64_t end = first + y.size(1);
  for (const auto& [of_task, first_output, first_rank, up] : blocks_) {
    if (of_task != task) continue;
    const int64_t begin = std::max(first, first_output);
    const int64_t count = std::min(end, first_output + up.outputs()) - begin;
    if (count <= 0) continue;
    const at::Tensor inner = down_(x, first_rank, up.inputs(), kernels::Epilogue::kStore);
    up.into(inner, begin - first_output, kernels::Epilogue::kAdd,
            y.narrow(1, begin - first, count));
  }
}

}  // namespace backend::nn
