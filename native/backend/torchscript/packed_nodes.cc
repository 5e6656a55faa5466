#include "torchscript/packed_nodes.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/custom_class.h>

#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "products/packed_convolution.h"
#include "products/packed_layer.h"

namespace backend {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Stack;

constexpr const char* kPacked = "libtorch_serve::packed";

/// y of x, with constants of its own.
using Layer = std::function<at::Tensor(const at::Tensor& x)>;

/// What a node does to its one input, kept as its attribute.
struct PackedNode final : torch::CustomClassHolder {
  explicit PackedNode(Layer of) : layer(std::move(of)) {}

  Layer layer;
};

torch::jit::Operation operation_of(const Node* node) {
  const auto made =
      c10::static_intrusive_pointer_cast<PackedNode>(node->ival(c10::attr::value).toCapsule());
  return [made](Stack& stack) {
    const at::Tensor x = torch::jit::pop(stack).toTensor();
    stack.emplace_back(made->layer(x));
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

/// What an operator is given beside its input, in whose place there is nothing; null where any of
/// it is not constant.
std::optional<Stack> constants_of(const Node& node, size_t input) {
  Stack arguments(node.inputs().size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i == input) continue;
    auto constant = torch::jit::toIValue(node.input(i));
    if (!constant) return std::nullopt;
    arguments[i] = *std::move(constant);
  }
  return arguments;
}

/// The relu() that alone reads what the node makes; null: there is none.
Node* relu_behind(const Node& node) {
  const auto& uses = node.output()->uses();
  if (uses.size() != 1) return nullptr;
  Node* user = uses.front().user;
  const bool is_relu = user->kind() == c10::aten::relu || user->kind() == c10::aten::relu_;
  return is_relu && user->owningBlock() == node.owningBlock() ? user : nullptr;
}

/// What is made of the input takes the place of what the node made, and of `relu`, if there is one.
void replace(Node& node, size_t input, Layer layer, Node* relu) {
  torch::jit::Graph& graph = *node.owningGraph();
  Node* const made = graph.create(c10::Symbol::fromQualString(kPacked), {node.input(input)}, 1);
  made->ival_(c10::attr::value,
              c10::IValue::make_capsule(c10::make_intrusive<PackedNode>(std::move(layer))));
  made->copyMetadata(&node);
  made->insertBefore(&node);
  made->output()->copyMetadata(node.output());
  node.output()->replaceAllUsesWith(made->output());
  if (relu == nullptr) return;
  relu->output()->replaceAllUsesWith(made->output());
  relu->destroy();
}

bool replace_convolution(Node& node) {
  const auto constants = constants_of(node, 0);
  if (!constants) return false;
  auto convolution = packed_convolution(node.kind().toQualString(), *constants);
  if (!convolution) return false;
  Node* const relu = relu_behind(node);
  const bool is_rectified = relu != nullptr;
  replace(
      node, 0,
      [convolution, is_rectified](const at::Tensor& x) { return (*convolution)(x, is_rectified); },
      relu);
  return true;
}

/// LibTorch would refuse it in other words.
void require_taken(const PackedLayer& layer, const at::Tensor& x) {
  if (layer.takes(x)) return;
  std::ostringstream message;
  message << "a linear layer takes float32 [..., " << layer.inputs() << "], received "
          << x.scalar_type() << ' ' << x.sizes();
  throw std::invalid_argument(message.str());
}

bool replace_linear(Node& node, PackedLayers& layers) {
  const std::optional<size_t> input = linear_input(node.kind().toQualString());
  if (!input) return false;
  const auto constants = constants_of(node, *input);
  if (!constants) return false;
  auto layer = layers.pack(node.kind().toQualString(), *constants);
  if (!layer) return false;
  replace(
      node, *input,
      [layer](const at::Tensor& x) {
        require_taken(*layer, x);
        return (*layer)(x, gemm::Activation::kNone);
      },
      nullptr);
  return true;
}

void pack_block(Block& block, PackedLayers& layers) {
  for (auto it = block.nodes().begin(); it != block.nodes().end(); ++it) {
    for (Block* inner : it->blocks()) pack_block(*inner, layers);
    if (!it->kind().is_aten() || it->inputs().empty()) continue;
    if (replace_convolution(**it) || replace_linear(**it, layers)) it.destroyCurrent();
  }
}

}  // namespace

void pack_constant_layers(torch::jit::Graph& graph) {
  register_packed();
  PackedLayers layers(Dtype::kFloat32);
  pack_block(*graph.block(), layers);
  torch::jit::EliminateDeadCode(graph.block());  // the constants
}

}  // namespace backend
