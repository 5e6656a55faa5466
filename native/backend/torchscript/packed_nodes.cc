#include "torchscript/packed_nodes.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/custom_class.h>

#include <memory>
#include <string>
#include <utility>

#include "products/packed_convolution.h"

namespace backend {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Stack;

constexpr const char* kPacked = "libtorch_serve::packed_convolution";

/// What a node does to its one input, kept as its attribute.
struct PackedNode final : torch::CustomClassHolder {
  PackedNode(std::shared_ptr<const PackedConvolution> of, bool with_relu)
      : convolution(std::move(of)), rectified(with_relu) {}

  std::shared_ptr<const PackedConvolution> convolution;
  bool rectified;
};

/// Null where an argument is not constant, or LibTorch has to do it.
std::shared_ptr<const PackedConvolution> packed(const Node& node) {
  if (!node.kind().is_aten() || node.inputs().empty()) return nullptr;
  Stack arguments(1);  // the input
  for (const auto* input : node.inputs().slice(1)) {
    auto constant = torch::jit::toIValue(input);
    if (!constant) return nullptr;
    arguments.push_back(*std::move(constant));
  }
  return packed_convolution(node.kind().toQualString(), arguments);
}

torch::jit::Operation operation_of(const Node* node) {
  const auto made =
      c10::static_intrusive_pointer_cast<PackedNode>(node->ival(c10::attr::value).toCapsule());
  return [made](Stack& stack) {
    const at::Tensor x = torch::jit::pop(stack).toTensor();
    stack.emplace_back((*made->convolution)(x, made->rectified));
  };
}

/// Without a schema: LibTorch takes nodes of one schema for the same operation, whatever their
/// attributes.
void register_packed() {
  static const torch::jit::RegisterOperators registered({
      torch::jit::Operator(c10::Symbol::fromQualString(kPacked), operation_of,
                           c10::AliasAnalysisKind::PURE_FUNCTION),
  });
}

/// The relu() that alone reads what the node makes; null: there is none.
Node* relu_behind(const Node& node) {
  const auto& uses = node.output()->uses();
  if (uses.size() != 1) return nullptr;
  Node* user = uses.front().user;
  const bool is_relu = user->kind() == c10::aten::relu || user->kind() == c10::aten::relu_;
  return is_relu && user->owningBlock() == node.owningBlock() ? user : nullptr;
}

void replace(Node& node, std::shared_ptr<const PackedConvolution> convolution) {
  torch::jit::Graph& graph = *node.owningGraph();
  Node* const relu = relu_behind(node);
  Node* const made = graph.create(c10::Symbol::fromQualString(kPacked), {node.input(0)}, 1);
  made->ival_(c10::attr::value, c10::IValue::make_capsule(c10::make_intrusive<PackedNode>(
                                    std::move(convolution), relu != nullptr)));
  made->copyMetadata(&node);
  made->insertBefore(&node);
  made->output()->copyMetadata(node.output());
  node.output()->replaceAllUsesWith(made->output());
  if (relu == nullptr) return;
  relu->output()->replaceAllUsesWith(made->output());
  relu->destroy();
}

void pack_block(Block& block) {
  for (auto it = block.nodes().begin(); it != block.nodes().end(); ++it) {
    for (Block* inner : it->blocks()) pack_block(*inner);
    auto convolution = packed(**it);
    if (!convolution) continue;
    replace(**it, std::move(convolution));
    it.destroyCurrent();
  }
}

}  // namespace

void pack_convolutions(torch::jit::Graph& graph) {
  register_packed();
  pack_block(*graph.block());
  torch::jit::EliminateDeadCode(graph.block());  // the constants
}

}  // namespace backend
