// Source: sentence-transformers, sentence_transformer/modules/layer_norm.py (LayerNorm).
#include "encoder/nn/layer_norm.h"

#include "encoder/modules/module.h"

namespace backend::modules {
namespace {

constexpr double kEpsilon = 1e-5;  // default of torch.nn.LayerNorm

class LayerNorm final : public Module {
 public:
  LayerNorm(const LayerNormModule& options, const Weights& weights)
      : norm_(weights / "norm", options.dimension, kEpsilon), columns_(options.dimension) {}

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& rows, const nn::PackedBatch& /*batch*/) const override {
    return norm_(rows);
  }

 private:
  nn::LayerNorm norm_;
  int64_t columns_;
};

}  // namespace

std::unique_ptr<Module> make(const LayerNormModule& options, int64_t columns) {
  require_columns("LayerNorm", options.dimension, columns);
  return with_own_weights("LayerNorm", options.weight_files, [&](const Weights& weights) {
    return std::make_unique<LayerNorm>(options, weights);
  });
}

}  // namespace backend::modules
