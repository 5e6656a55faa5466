#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/weights.h"

namespace backend::nn {

/// A table of rows, left in the mapped file in its stored type: only rows that texts use are read.
/// Key: weight [rows, size].
class Embedding {
 public:
  Embedding(const Weights& weights, int64_t rows, int64_t size);

  /// int64 [n] → float32 [n, size]. Every index must be below the number of rows.
  at::Tensor operator()(const at::Tensor& indices) const;

  int64_t rows() const { return table_.size(0); }

 private:
  at::Tensor table_;
};

}  // namespace backend::nn
