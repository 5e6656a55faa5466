// A frozen graph as rewriting sees it.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <unordered_map>

#include "program/rewrite/graph_view.h"

namespace backend {

/// Of the graph of a module's forward(), which outlives it.
class FrozenView final : public GraphView {
 public:
  explicit FrozenView(torch::jit::Graph& graph);

  size_t size() const override { return nodes_.size(); }
  std::string_view name(Call call) const override;
  Arguments arguments(Call call) const override;
  std::optional<Call> reader(Call call) const override;
  void set_argument(Call call, size_t index, const at::Tensor& value) override;
  void take_over(Call call, Call reader) override;
  void replace(Call call, size_t input, Layer layer) override;

 private:
  void add(torch::jit::Block& block);
  void destroy(Call call);

  std::vector<torch::jit::Node*> nodes_;  ///< null: it is gone
  std::unordered_map<const torch::jit::Node*, Call> calls_;
};

}  // namespace backend
