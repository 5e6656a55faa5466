#include "program/rewrite/rewrite.h"

#include <sstream>
#include <stdexcept>
#include <utility>

#include "products/packed_convolution.h"
#include "program/rewrite/normalization.h"

namespace backend {
namespace {

using Call = GraphView::Call;

/// What an operator is given beside its input, in whose place there is nothing; null where the
/// input alone is not what is not constant.
std::optional<std::vector<c10::IValue>> constants_beside(size_t input,
                                                         const GraphView::Arguments& arguments) {
  std::vector<c10::IValue> constants(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].has_value() == (i == input)) return std::nullopt;
    if (arguments[i]) constants[i] = *arguments[i];
  }
  return constants;
}

bool take_over_relu(GraphView& graph, Call call) {
  const auto reader = graph.reader(call);
  if (!reader) return false;
  const std::string_view name = graph.name(*reader);
  if (name != "aten::relu" && name != "aten::relu_") return false;
  graph.take_over(call, *reader);
  return true;
}

bool take_over_gelu(GraphView& graph, Call call) {
  const auto reader = graph.reader(call);
  if (!reader || graph.name(*reader) != "aten::gelu") return false;
  const auto approximation = graph.arguments(*reader)[1];
  if (!approximation || !approximation->isString()) return false;
  if (approximation->toStringRef() != "none") return false;
  graph.take_over(call, *reader);
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

bool pack_convolution(GraphView& graph, Call call) {
  const auto constants = constants_beside(0, graph.arguments(call));
  if (!constants) return false;
  auto convolution = packed_convolution(graph.name(call), *constants);
  if (!convolution) return false;
  const bool is_rectified = take_over_relu(graph, call);
  graph.replace(call, 0, [convolution = std::move(convolution), is_rectified](const at::Tensor& x) {
    return (*convolution)(x, is_rectified);
  });
  return true;
}

void pack_linear(GraphView& graph, Call call, PackedLayers& layers, bool fuses_gelu) {
  const auto input = linear_input(graph.name(call));
  if (!input) return;
  const auto constants = constants_beside(*input, graph.arguments(call));
  if (!constants) return;
  auto layer = layers.pack(graph.name(call), *constants);
  if (!layer) return;
  const auto activation =
      fuses_gelu && take_over_gelu(graph, call) ? gemm::Activation::kGelu : gemm::Activation::kNone;
  graph.replace(call, *input, [layer = std::move(layer), activation](const at::Tensor& x) {
    require_taken(*layer, x);
    return (*layer)(x, activation);
  });
}

}  // namespace

void rewrite(GraphView& graph, PackedLayers& layers, bool fuses_gelu) {
  for (Call call = 0; call < graph.size(); ++call) {
    if (graph.name(call).empty()) continue;
    while (fold_normalization(graph, call)) {
    }
    if (!pack_convolution(graph, call)) pack_linear(graph, call, layers, fuses_gelu);
  }
}

}  // namespace backend
