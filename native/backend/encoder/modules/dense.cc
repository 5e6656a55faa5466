// Source: sentence-transformers, base/modules/dense.py (Dense).
#include <ATen/TensorOperators.h>

#include <optional>

#include "encoder/modules/module.h"
#include "encoder/nn/linear.h"

namespace backend::modules {
namespace {

/// Always computes in float32: it is small, and its result is the embedding itself.
class Dense final : public Module {
 public:
  Dense(const DenseModule& options, const Weights& weights)
      : linear_(weights / "linear", options.in_features, options.out_features,
                options.bias ? nn::Bias::kYes : nn::Bias::kNo),
        activation_(nn::activation_by_name(options.activation, "activation_function")),
        has_residual_(options.residual),
        columns_(options.out_features) {
    if (!options.residual || options.in_features == options.out_features) return;
    residual_.emplace(weights / "residual", options.in_features, options.out_features,
                      nn::Bias::kNo);
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

std::unique_ptr<Module> make(const DenseModule& options, int64_t columns, const Weights& model) {
  require_columns("Dense", options.in_features, columns);
  if (options.weight_files.empty()) return std::make_unique<Dense>(options, model.in_float32());
  return with_own_weights("Dense", options.weight_files, [&](const Weights& weights) {
    return std::make_unique<Dense>(options, weights);
  });
}

}  // namespace backend::modules
