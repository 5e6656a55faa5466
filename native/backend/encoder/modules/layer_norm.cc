// Source: sentence-transformers, sentence_transformer/modules/layer_norm.py (LayerNorm).
#include "encoder/nn/layer_norm.h"

#include "encoder/modules/module.h"
#include "encoder/modules/own_weights.h"

namespace backend::modules {
namespace {

constexpr double kEpsilon = 1e-5;  // torch.nn.LayerNorm's own

class LayerNorm final : public Module {
 public:
  LayerNorm(const LayerNormModule& what, const Weights& weights)
      : norm_(weights / "norm", what.dimension, kEpsilon), columns_(what.dimension) {}

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& rows, const nn::PackedBatch& /*batch*/) const override {
    return norm_(rows);
  }

 private:
  nn::LayerNorm norm_;
  int64_t columns_;
};

}  // namespace

std::unique_ptr<Module> make(const LayerNormModule& what, int64_t columns) {
  require_columns("LayerNorm", what.dimension, columns);
  return with_own_weights("LayerNorm", what.weight_files, [&](const Weights& weights) {
    return std::make_unique<LayerNorm>(what, weights);
  });
}

}  // namespace backend::modules
