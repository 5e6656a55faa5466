// Sentence embeddings or token embeddings: the modules of a sentence-transformers model.
#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "common/error.h"
#include "encoder/heads/head.h"
#include "encoder/modules/module.h"

namespace backend::heads {
namespace {

/// Throws LoadError if the pooling is not that of an encoder that pools.
void require_mean(const PoolingModule& pooling) {
  if (pooling.include_prompt && pooling.modes == std::vector{PoolingMode::kMean}) return;
  throw common::LoadError("modules.json: expected mean pooling of static embeddings");
}

class Embedding final : public Head {
 public:
  Embedding(const EmbeddingHead& options, const HeadSource& source) : columns_(source.hidden_size) {
    const auto make = [&](const auto& each) {
      if constexpr (std::is_same_v<decltype(each), const DenseModule&>) {
        return modules::make(each, columns_, source.weights);
      } else {
        return modules::make(each, columns_);
      }
    };
    bool pooled = false;
    for (const Module& module : options.modules) {
      if (const auto* pooling = std::get_if<PoolingModule>(&module)) {
        if (pooled) throw common::LoadError("modules.json: expected one Pooling, found another");
        if (source.encoder_pools) {
          require_mean(*pooling);
          pooled = pools_chunks_ = true;
          continue;
        }
        if (pooling->modes.empty()) throw common::LoadError("Pooling: expected at least one mode");
        pooled = true;
        uses_cls_only_ = modules::pools_first_token(*pooling);
        pools_chunks_ = pooling->modes == std::vector{PoolingMode::kMean};
      }
      modules_.push_back(std::visit(make, module));
      columns_ = modules_.back()->columns();
    }
  }

  nn::OutputTokens input_tokens() const override {
    return uses_cls_only_ ? nn::OutputTokens::kClsOnly : nn::OutputTokens::kAllTokens;
  }

  bool pools_chunks() const override { return pools_chunks_; }

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    at::Tensor rows = hidden;
    for (const auto& module : modules_) rows = (*module)(rows, batch);
    return rows;
  }

 private:
  std::vector<std::unique_ptr<modules::Module>> modules_;
  int64_t columns_;
  bool uses_cls_only_ = false;
  bool pools_chunks_ = false;
};

}  // namespace

std::unique_ptr<Head> make(const EmbeddingHead& options, const HeadSource& source) {
  auto head = std::make_unique<Embedding>(options, source);
  source.weights.ignore_outside_base();
  return head;
}

}  // namespace backend::heads
