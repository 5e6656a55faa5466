#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/weights.h"
#include "encoder/nn/activation.h"
#include "encoder/nn/lora.h"
#include "packed/linear.h"

namespace backend::nn {

/// Whether a layer has a bias.
enum class Bias { kYes, kNo };

/// y = x Wᵀ + b, float32 to float32, multiplied in the compute type of the weights. Keys: weight
/// [out, in], bias [out], and those of a LoRA update. Copies share the weights.
class Linear {
 public:
  Linear(const Weights& weights, int64_t in_features, int64_t out_features, Bias bias = Bias::kYes);

  /// weight: in its stored type, possibly tied to another layer. bias: float32, undefined if
  /// absent.
  Linear(const at::Tensor& weight, const at::Tensor& bias, const ComputeTypes& compute_types);

  struct Part {
    Weights weights;
    int64_t out_features;
    /// Order of the outputs, int64 [out_features]; undefined: as stored.
    at::Tensor order = {};  // NOLINT(readability-redundant-member-init): initializers may omit it
  };

  /// Several layers with the same input as one layer with concatenated outputs (query, key, value).
  static Linear fused(std::initializer_list<Part> layers, int64_t in_features,
                      Bias bias = Bias::kYes);

  /// The layer restricted to these outputs. It shares the weights.
  Linear slice(int64_t first, int64_t count) const;

  int64_t outputs() const { return count_; }

  /// Data types of its multiplication, and of attention over its outputs.
  const ComputeTypes& compute_types() const { return compute_types_; }

  /// [rows, in] → [rows, out]
  at::Tensor operator()(const at::Tensor& input) const;

  /// Like operator(), followed by an activation.
  at::Tensor operator()(const at::Tensor& input, Activation activation) const;

  /// y + output and y × output, [rows, out], written to y.
  at::Tensor add_to(at::Tensor y, const at::Tensor& input) const;
  at::Tensor multiply_into(at::Tensor y, const at::Tensor& input) const;

 private:
  std::shared_ptr<const PackedLinear> layer_;
  std::shared_ptr<const LoraUpdate> update_;  ///< null: none
  ComputeTypes compute_types_;
  int64_t first_ = 0;
  int64_t count_;
};

}  // namespace backend::nn
