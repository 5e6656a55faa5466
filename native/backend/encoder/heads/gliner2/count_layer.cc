// Source: gliner2, layers.py (CountLSTM, CountLSTMv2, CountLSTMoE, CompileSafeGRU).
#include "encoder/heads/gliner2/count_layer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

#include "encoder/heads/gliner2/label_transformer.h"
#include "encoder/heads/gliner2/mlp.h"

namespace backend::heads::gliner2 {
namespace {

constexpr int64_t kMaxCount = 20;  // of records
constexpr int64_t kExperts = 4;

/// First step of a GRU whose input is the embedding of record 0, and whose state is the label.
class FirstStep {
 public:
  FirstStep(const Weights& weights, int64_t size)
      : size_(size),
        of_state_((weights / "gru").get("weight_hh_l0", {3 * size, size}),
                  (weights / "gru").get("bias_hh_l0", {3 * size}), ComputeTypes()) {
    const at::Tensor positions =
        (weights / "pos_embedding").get("weight", {kMaxCount, size}).narrow(0, 0, 1);
    of_input_ = at::linear(positions, (weights / "gru").get("weight_ih_l0", {3 * size, size}),
                           (weights / "gru").get("bias_ih_l0", {3 * size}));
  }

  /// [labels, hidden] → [labels, hidden]
  at::Tensor operator()(const at::Tensor& labels) const {
    const at::Tensor gates = of_state_(labels);
    const auto part = [this](const at::Tensor& all, int64_t index) {
      return all.narrow(1, index * size_, size_);
    };
    const at::Tensor reset = at::sigmoid(part(of_input_, 0) + part(gates, 0));
    const at::Tensor update = at::sigmoid(part(of_input_, 1) + part(gates, 1));
    const at::Tensor candidate = at::tanh(part(of_input_, 2) + reset * part(gates, 2));
    return (1 - update) * candidate + update * labels;
  }

 private:
  int64_t size_;
  nn::Linear of_state_;
  at::Tensor of_input_;  ///< [1, 3 × hidden]
};

class PlainLayer final : public CountLayer {
 public:
  PlainLayer(const Weights& weights, int64_t size)
      : step_(weights, size),
        projector_(weights / "projector", 2 * size, {{"0", 4 * size}, {"2", size}}) {}

  at::Tensor operator()(const at::Tensor& labels) const override {
    return projector_(at::cat({step_(labels), labels}, 1));
  }

 private:
  FirstStep step_;
  Mlp projector_;
};

class TransformerLayer final : public CountLayer {
 public:
  TransformerLayer(const Weights& weights, int64_t size)
      : step_(weights, size), transformer_(weights / "transformer", size) {}

  at::Tensor operator()(const at::Tensor& labels) const override {
    return transformer_(step_(labels) + labels);
  }

 private:
  FirstStep step_;
  LabelTransformer transformer_;
};

/// A mixture of experts: each label weights the results of all of them.
class MixtureLayer final : public CountLayer {
 public:
  MixtureLayer(const Weights& weights, int64_t size)
      : step_(weights, size),
        router_in_(weights / "router.0", size, size),
        router_out_(weights / "router.2", size, kExperts),
        in_(weights.get("w1", {kExperts, size, 2 * size})),
        in_bias_(weights.get("b1", {kExperts, 2 * size})),
        out_(weights.get("w2", {kExperts, 2 * size, size})),
        out_bias_(weights.get("b2", {kExperts, size})) {}

  at::Tensor operator()(const at::Tensor& labels) const override {
    const at::Tensor states = step_(labels);
    const at::Tensor gates = at::softmax(router_out_(at::gelu(router_in_(states))), 1);
    at::Tensor sum = at::zeros_like(states);
    for (int64_t expert = 0; expert < kExperts; ++expert) {
      const at::Tensor inner = at::gelu(at::addmm(in_bias_[expert], states, in_[expert]));
      sum += gates.narrow(1, expert, 1) * at::addmm(out_bias_[expert], inner, out_[expert]);
    }
    return sum;
  }

 private:
  FirstStep step_;
  nn::Linear router_in_, router_out_;
  at::Tensor in_, in_bias_, out_, out_bias_;
};

}  // namespace

std::unique_ptr<CountLayer> make_count_layer(CountLayerType type, const Weights& weights,
                                             int64_t size) {
  switch (type) {
    case CountLayerType::kPlain:
      return std::make_unique<PlainLayer>(weights, size);
    case CountLayerType::kTransformer:
      return std::make_unique<TransformerLayer>(weights, size);
    case CountLayerType::kMixture:
      return std::make_unique<MixtureLayer>(weights, size);
  }
  return nullptr;
}

}  // namespace backend::heads::gliner2
