// From the tokens' states to a vector of the text, or one of each token: by modules as
// sentence-transformers has them.
#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "encoder/heads/head.h"
#include "encoder/modules/module.h"

namespace backend::heads {
namespace {

class Embedding final : public Head {
 public:
  Embedding(const EmbeddingHead& what, const HeadSource& source) : columns_(source.hidden_size) {
    const auto make = [&](const auto& each) {
      if constexpr (std::is_same_v<decltype(each), const DenseModule&>) {
        return modules::make(each, columns_, source.weights);
      } else {
        return modules::make(each, columns_);
      }
    };
    bool pooled = false;
    for (const Module& module : what.modules) {
      if (const auto* pooling = std::get_if<PoolingModule>(&module)) {
        if (pooled) throw LoadError("modules.json: expected one Pooling, found another");
        if (pooling->modes.empty()) throw LoadError("Pooling: expected at least one mode");
        pooled = true;
        reads_first_ = modules::pools_first_token(*pooling);
      }
      modules_.push_back(std::visit(make, module));
      columns_ = modules_.back()->columns();
    }
  }

  nn::Outputs reads() const override {
    return reads_first_ ? nn::Outputs::kFirstTokens : nn::Outputs::kAllTokens;
  }

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const override {
    at::Tensor rows = hidden;
    for (const auto& module : modules_) rows = (*module)(rows, batch);
    return rows;
  }

 private:
  std::vector<std::unique_ptr<modules::Module>> modules_;
  int64_t columns_;
  bool reads_first_ = false;
};

}  // namespace

std::unique_ptr<Head> make(const EmbeddingHead& what, const HeadSource& source) {
  auto head = std::make_unique<Embedding>(what, source);
  source.weights.ignore_beside_base();
  return head;
}

}  // namespace backend::heads
