#include "programs/torchscript/frozen_view.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/custom_class.h>

#include <unordered_map>
#include <utility>

#include "programs/rewrite/rewrite.h"

namespace backend {
namespace {

using torch::jit::Node;
using torch::jit::Stack;

constexpr const char* kLayer = "libtorch_serve::layer";

/// A layer as attribute of a node.
struct LayerOfNode final : torch::CustomClassHolder {
  explicit LayerOfNode(Layer of) : layer(std::move(of)) {}

  Layer layer;
};

torch::jit::Operation operation_of(const Node* node) {
  const auto made =
      c10::static_intrusive_pointer_cast<LayerOfNode>(node->ival(c10::attr::value).toCapsule());
  return [made](Stack& stack) {
    const at::Tensor x = torch::jit::pop(stack).toTensor();
    stack.emplace_back(made->layer(x));
  };
}

/// Registers the operator without a schema: LibTorch treats nodes with equal schemas as equal,
/// regardless of attributes.
void register_layer() {
  static const torch::jit::RegisterOperators registered({
      torch::jit::Operator(c10::Symbol::fromQualString(kLayer), operation_of,
                           c10::AliasAnalysisKind::PURE_FUNCTION),
  });
}

/// GraphView of a frozen graph.
class FrozenView final : public GraphView {
 public:
  explicit FrozenView(torch::jit::Graph& graph) { add(*graph.block()); }

  size_t size() const override { return nodes_.size(); }

  std::string_view name(Call call) const override {
    return nodes_[call] != nullptr ? nodes_[call]->kind().toQualString() : "";
  }

  Arguments arguments(Call call) const override {
    Arguments arguments;
    for (const auto* input : nodes_[call]->inputs()) {
      arguments.push_back(torch::jit::toIValue(input));
    }
    return arguments;
  }

  std::optional<Call> consumer(Call call) const override {
    const Node& node = *nodes_[call];
    if (node.outputs().size() != 1 || node.output()->uses().size() != 1) return std::nullopt;
    const auto [user, offset] = node.output()->uses().front();
    const auto found = calls_.find(user);
    if (found == calls_.end() || offset != 0 || user->owningBlock() != node.owningBlock()) {
      return std::nullopt;
    }
    for (const auto* other : user->outputs().slice(1)) {
      if (other->hasUses()) return std::nullopt;
    }
    return found->second;
  }

  void set_argument(Call call, size_t index, const at::Tensor& value) override {
    Node* const node = nodes_[call];
    const torch::jit::WithInsertPoint before(node);
    node->replaceInput(index, node->owningGraph()->insertConstant(value));
  }

  void fuse_consumer(Call call, Call consumer) override {
    nodes_[consumer]->output(0)->replaceAllUsesWith(nodes_[call]->output());
    destroy(consumer);
  }

  void replace(Call call, size_t input, Layer layer) override {
    Node* const node = nodes_[call];
    Node* const made = node->owningGraph()->create(c10::Symbol::fromQualString(kLayer),
                                                   {node->input(input)}, node->outputs().size());
    made->ival_(c10::attr::value,
                c10::IValue::make_capsule(c10::make_intrusive<LayerOfNode>(std::move(layer))));
    made->copyMetadata(node);
    made->insertBefore(node);
    made->output()->copyMetadata(node->output());
    node->output()->replaceAllUsesWith(made->output());
    destroy(call);
  }

 private:
  void add(torch::jit::Block& block) {
    for (Node* node : block.nodes()) {
      for (auto* inner : node->blocks()) add(*inner);
      if (!node->kind().is_aten() || node->outputs().empty()) continue;
      calls_.emplace(node, nodes_.size());
      nodes_.push_back(node);
    }
  }

  void destroy(Call call) {
    calls_.erase(nodes_[call]);
    std::exchange(nodes_[call], nullptr)->destroy();
  }

  std::vector<Node*> nodes_;  ///< null: removed
  std::unordered_map<const Node*, Call> calls_;
};

}  // namespace

void rewrite_frozen(torch::jit::Graph& graph, PackedLinears& layers, bool fuses_gelu) {
  register_layer();
  FrozenView view(graph);
  rewrite(view, layers, fuses_gelu);
}

}  // namespace backend
