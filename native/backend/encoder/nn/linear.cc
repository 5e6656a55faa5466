#include "encoder/nn/linear.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>

#include <utility>

#include "packed/shared_layers.h"
#include "runtime/runtime.h"

namespace backend::nn {

Linear::Linear(const Weights& weights, int64_t in_features, int64_t out_features, Bias bias)
    : Linear(weights.get_as_stored("weight", {out_features, in_features}),
             bias == Bias::kYes ? weights.get("bias", {out_features}) : at::Tensor(),
             weights.compute_types()) {
  const LoraUpdate::Part part{.outputs = out_features,
                              .factors = weights.lora_factors(in_features, out_features)};
  update_ = LoraUpdate::make({&part, 1});
}

Linear::Linear(const at::Tensor& weight, const at::Tensor& bias, const ComputeTypes& compute_types)
    : layer_(share_layer(weight, bias, compute_types.linear)),
      compute_types_(compute_types),
      count_(weight.size(0)) {}

namespace {

/// The rows of a weight, a bias or a LoRA factor in this order; undefined: as they are.
at::Tensor ordered(const at::Tensor& rows, const at::Tensor& order) {
  return order.defined() ? at::index_select(rows, 0, order) : rows;
}

}  // namespace

Linear Linear::fused(std::initializer_list<Part> layers, int64_t in_features, Bias bias) {
  std::vector<at::Tensor> weights, biases;
  std::vector<LoraUpdate::Part> updates;
  for (const auto& [layer, out_features, order] : layers) {
    weights.push_back(ordered(layer.get_as_stored("weight", {out_features, in_features}), order));
    if (bias == Bias::kYes) biases.push_back(ordered(layer.get("bias", {out_features}), order));
    std::vector<LoraFactors> factors = layer.lora_factors(in_features, out_features);
    for (LoraFactors& each : factors) each.up = ordered(each.up, order);
    updates.push_back({out_features, std::move(factors)});
  }
  Linear all{at::cat(weights), bias == Bias::kYes ? at::cat(biases) : at::Tensor(),
             layers.begin()->weights.compute_types()};
  all.update_ = LoraUpdate::make(updates);
  // Returns the memory of the copies now: small long-lived allocations would fragment the heap
  // where the next layer's copies need room.
  release_free_memory();
  return all;
}

Linear Linear::slice(int64_t first, int64_t count) const {
  Linear some = *this;
  some.first_ = first_ + first;
  some.count_ = count;
  return some;
}

at::Tensor Linear::operator()(const at::Tensor& input) const {
  at::Tensor y = (*layer_)(input, first_, count_, kernels::Epilogue::kStore);
  if (update_) update_->add_to(y, input, first_);
  return y;
}

at::Tensor Linear::operator()(const at::Tensor& input, Activation activation) const {
  // Fused into the kernel: LibTorch's activations are separate passes on one thread, GELU with JIT
  // code for each number of tokens.
  constexpr std::pair<Activation, kernels::Epilogue> kFused[] = {
      {gelu, kernels::Epilogue::kGelu},
      {gelu_tanh, kernels::Epilogue::kGeluTanh},
      {silu, kernels::Epilogue::kSilu}};
  for (const auto& [function, epilogue] : kFused) {
    if (activation != function) continue;
    if (!update_) return (*layer_)(input, first_, count_, epilogue);
    at::Tensor y = (*this)(input);
    activate(y, epilogue);
    return y;
  }
  return activation((*this)(input));
}

at::Tensor Linear::add_to(at::Tensor y, const at::Tensor& input) const {
  y = y.contiguous();
  layer_->into(input, first_, kernels::Epilogue::kAdd, y);
  if (update_) update_->add_to(y, input, first_);
  return y;
}

at::Tensor Linear::multiply_into(at::Tensor y, const at::Tensor& input) const {
  y = y.contiguous();
  if (update_) return y.mul_((*this)(input));
  layer_->into(input, first_, kernels::Epilogue::kMultiply, y);
  return y;
}

}  // namespace backend::nn
