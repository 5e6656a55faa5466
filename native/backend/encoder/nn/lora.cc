#include "encoder/nn/lora.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace backend::nn {
namespace {

PackedLinear pack(const at::Tensor& factor) { return {factor, at::Tensor(), Dtype::kFloat32}; }

}  // namespace

std::shared_ptr<const LoraUpdate> LoraUpdate::make(std::span<const Part> parts) {
  std::vector<at::Tensor> down;
  std::vector<Block> blocks;
  int64_t output = 0, rank = 0;
  for (const auto& [outputs, factors] : parts) {
    if (factors) {
      blocks.push_back({.first_output = output, .first_rank = rank, .up = pack(factors->up)});
      down.push_back(factors->down);
      rank += factors->down.size(0);
    }
    output += outputs;
  }
  if (blocks.empty()) return nullptr;
  return std::shared_ptr<const LoraUpdate>(
      new LoraUpdate(pack(at::cat(down)), std::move(blocks)));  // the constructor is private
}

void LoraUpdate::add_to(const at::Tensor& y, const at::Tensor& x, int64_t first) const {
  const int64_t end = first + y.size(1);
  for (const auto& [first_output, first_rank, up] : blocks_) {
    const int64_t begin = std::max(first, first_output);
    const int64_t count = std::min(end, first_output + up.outputs()) - begin;
    if (count <= 0) continue;
    const at::Tensor inner = down_(x, first_rank, up.inputs(), kernels::Epilogue::kStore);
    up.into(inner, begin - first_output, kernels::Epilogue::kAdd,
            y.narrow(1, begin - first, count));
  }
}

}  // namespace backend::nn
