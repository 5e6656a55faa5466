#include "encoder/nn/embedding.h"

#include <ATen/ops/index_select.h>

namespace backend::nn {

Embedding::Embedding(const Weights& weights, int64_t rows, int64_t size)
    : table_(weights.get_as_stored("weight", {rows, size})) {}

at::Tensor Embedding::operator()(const at::Tensor& indices) const {
  return at::index_select(table_, 0, indices).to(at::kFloat);
}

}  // namespace backend::nn
