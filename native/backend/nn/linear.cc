#include "nn/linear.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "team_in_use.h"

namespace backend::nn {
namespace {

/// Multiplications (with an addition each) of one part of the work, some microseconds.
constexpr int64_t kShareOfWork = 500'000;

gemm::Storage storage_of(const at::Tensor& weight) {
  switch (weight.scalar_type()) {
    case at::kHalf:
      return gemm::Storage::kFloat16;
    case at::kBFloat16:
      return gemm::Storage::kBFloat16;
    default:
      return gemm::Storage::kFloat32;
  }
}

std::shared_ptr<const gemm::PackedLinear> packed(at::Tensor weight, const at::Tensor& bias) {
  if (weight.scalar_type() == at::kDouble) weight = weight.to(at::kFloat);
  weight = weight.contiguous();
  return std::make_shared<gemm::PackedLinear>(
      weight.const_data_ptr(), storage_of(weight),
      bias.defined() ? bias.const_data_ptr<float>() : nullptr, weight.size(0), weight.size(1));
}

}  // namespace

Linear::Linear(const Weights& weights, int64_t in_features, int64_t out_features, Bias bias)
    : Linear(weights.get_as_stored("weight", {out_features, in_features}),
             bias == Bias::kYes ? weights.get("bias", {out_features}) : at::Tensor()) {}

Linear::Linear(const at::Tensor& weight, const at::Tensor& bias)
    : packed_(packed(weight, bias)), count_(packed_->outputs()) {}

Linear Linear::side_by_side(std::initializer_list<Weights> layers, int64_t in_features,
                            int64_t out_features) {
  std::vector<at::Tensor> weights, biases;
  for (const auto& layer : layers) {
    weights.push_back(layer.get_as_stored("weight", {out_features, in_features}));
    biases.push_back(layer.get("bias", {out_features}));
  }
  return {at::cat(weights), at::cat(biases)};
}

Linear Linear::outputs(int64_t first, int64_t count) const {
  Linear some = *this;
  some.first_ = first_ + first;
  some.count_ = count;
  return some;
}

at::Tensor Linear::operator()(const at::Tensor& input, Activation activation) const {
  // LibTorch's own is a separate pass, by oneDNN, which keeps code for every number of tokens.
  if (activation == gelu) return multiply(input, gemm::Activation::kGelu);
  return activation(multiply(input, gemm::Activation::kNone));
}

at::Tensor Linear::multiply(const at::Tensor& input, gemm::Activation activation) const {
  const at::Tensor x = input.stride(1) == 1 ? input : input.contiguous();
  at::Tensor y = at::empty({x.size(0), count_}, x.options());
  const gemm::PackedLinear::Operands all{.x = x.const_data_ptr<float>(),
                                         .rows = x.size(0),
                                         .x_stride = x.stride(0),
                                         .y = y.mutable_data_ptr<float>(),
                                         .y_stride = count_,
                                         .activation = activation};
  const auto multiply = [&](int64_t first, int64_t count) {
    gemm::PackedLinear::Operands share = all;
    share.y += first;
    packed_->multiply(share, first_ + first, count);
  };
  const int64_t work = all.rows * packed_->inputs() * count_;
  if (gemm::Team* const team = TeamInUse::current(); team != nullptr && work > 2 * kShareOfWork) {
    // Whole panels, as many as make up a share.
    const int64_t panels = std::max<int64_t>(1, kShareOfWork * count_ / work / packed_->panel_width());
    const int64_t outputs = panels * packed_->panel_width();
    team->run(static_cast<uint32_t>((count_ + outputs - 1) / outputs), [&](uint32_t part) noexcept {
      const int64_t first = part * outputs;
      multiply(first, std::min(outputs, count_ - first));
    });
    return y;
  }
  multiply(0, count_);
  return y;
}

}  // namespace backend::nn
