#pragma once

#include <ATen/core/Tensor.h>

#include "weights.h"

namespace backend::nn {

/// Whether a layer has an additive parameter.
enum class Bias { kYes, kNo };

/// y = x Wᵀ + b, float32. Keys: weight [out, in], bias [out].
class Linear {
 public:
  Linear(const Weights& weights, int64_t in_features, int64_t out_features, Bias bias = Bias::kYes);

  /// Several layers on the same input as one, their outputs side by side (query, key, value).
  static Linear side_by_side(std::initializer_list<Linear> layers);

  /// The layer that gives only these of the outputs. It shares the weights.
  Linear outputs(int64_t first, int64_t count) const;

  /// [rows, in] → [rows, out]
  at::Tensor operator()(const at::Tensor& input) const;

 private:
  Linear(at::Tensor weight, std::optional<at::Tensor> bias);

  at::Tensor weight_;
  std::optional<at::Tensor> bias_;
};

}  // namespace backend::nn
