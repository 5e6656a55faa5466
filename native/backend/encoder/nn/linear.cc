#include "encoder/nn/linear.h"

#include <ATen/ops/cat.h>

#include <utility>

#include "runtime/runtime.h"

namespace backend::nn {

Linear::Linear(const Weights& weights, int64_t in_features, int64_t out_features, Bias bias)
    : Linear(weights.get_as_stored("weight", {out_features, in_features}),
             bias == Bias::kYes ? weights.get("bias", {out_features}) : at::Tensor(),
             weights.numbers()) {}

Linear::Linear(const at::Tensor& weight, const at::Tensor& bias, const Numbers& numbers)
    : layer_(std::make_shared<const PackedLinear>(weight, bias, numbers.linear)),
      numbers_(numbers),
      count_(weight.size(0)) {}

Linear Linear::side_by_side(std::initializer_list<Weights> layers, int64_t in_features,
                            int64_t out_features) {
  std::vector<at::Tensor> weights, biases;
  for (const auto& layer : layers) {
    weights.push_back(layer.get_as_stored("weight", {out_features, in_features}));
    biases.push_back(layer.get("bias", {out_features}));
  }
  Linear all{at::cat(weights), at::cat(biases), layers.begin()->numbers()};
  // Small things that stay would lie in the place of the copy, and that of the next layer
  // elsewhere.
  give_back_free_memory();
  return all;
}

Linear Linear::outputs(int64_t first, int64_t count) const {
  Linear some = *this;
  some.first_ = first_ + first;
  some.count_ = count;
  return some;
}

at::Tensor Linear::operator()(const at::Tensor& input) const {
  return (*layer_)(input, first_, count_, kernels::Epilogue::kStore);
}

at::Tensor Linear::operator()(const at::Tensor& input, Activation activation) const {
  // LibTorch's own is a separate pass, by oneDNN, which keeps code for every number of tokens.
  if (activation == gelu) return (*layer_)(input, first_, count_, kernels::Epilogue::kGelu);
  return activation((*this)(input));
}

at::Tensor Linear::added_to(at::Tensor y, const at::Tensor& input) const {
  return into(std::move(y), input, kernels::Epilogue::kAdd);
}

at::Tensor Linear::times(at::Tensor y, const at::Tensor& input) const {
  return into(std::move(y), input, kernels::Epilogue::kMultiply);
}

at::Tensor Linear::into(at::Tensor y, const at::Tensor& input, kernels::Epilogue epilogue) const {
  y = y.contiguous();
  layer_->into(input, first_, epilogue, y);
  return y;
}

}  // namespace backend::nn
