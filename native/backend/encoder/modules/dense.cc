// Source: sentence-transformers, base/modules/dense.py (Dense).
#include <ATen/TensorOperators.h>

#include <optional>

#include "encoder/modules/module.h"
#include "encoder/modules/own_weights.h"
#include "encoder/nn/linear.h"

namespace backend::modules {
namespace {

/// Multiplies in float32 always: it is small, and gives the answer itself.
class Dense final : public Module {
 public:
  Dense(const DenseModule& what, const Weights& weights)
      : linear_(weights / "linear", what.in_features, what.out_features,
                what.bias ? nn::Bias::kYes : nn::Bias::kNo),
        activation_(nn::activation_by_name(what.activation, "activation_function")),
        has_residual_(what.residual),
        columns_(what.out_features) {
    if (!what.residual || what.in_features == what.out_features) return;
    residual_.emplace(weights / "residual", what.in_features, what.out_features, nn::Bias::kNo);
  }

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& rows, const nn::PackedBatch& /*batch*/) const override {
    at::Tensor result = linear_(rows, activation_);
    if (!has_residual_) return result;
    return result + (residual_ ? (*residual_)(rows) : rows);
  }

 private:
  nn::Linear linear_;
  nn::Activation activation_;
  std::optional<nn::Linear> residual_;
  bool has_residual_;
  int64_t columns_;
};

}  // namespace

std::unique_ptr<Module> make(const DenseModule& what, int64_t columns, const Weights& model) {
  require_columns("Dense", what.in_features, columns);
  if (what.weight_files.empty()) return std::make_unique<Dense>(what, model.in_float32());
  return with_own_weights("Dense", what.weight_files, [&](const Weights& weights) {
    return std::make_unique<Dense>(what, weights);
  });
}

}  // namespace backend::modules
