#include "programs/exported/higher_order.h"

#include <algorithm>
#include <iterator>

namespace backend {
namespace {

using Inputs = rust::Vec<tokenizers::NamedArgument>;

const Graph* graph_at(const Inputs& inputs, size_t index) {
  return index < inputs.size() ? graph_in(inputs[index].arg) : nullptr;
}

const Arguments* list_at(const Inputs& inputs, size_t index) {
  return index < inputs.size() ? list_in(inputs[index].arg) : nullptr;
}

HigherOrder rejected(const char* problem) {
  HigherOrder call;
  call.problem = problem;
  return call;
}

bool fits(const Graph& graph, size_t operands) { return graph.inputs.size() == operands; }

/// (…, graph, operand, operand, …): the arguments before the graph have no effect in inference.
HigherOrder inlined(const Node& node, size_t place) {
  const Graph* const graph = graph_at(node.inputs, place);
  if (graph == nullptr) return rejected("has no graph");
  HigherOrder call;
  call.graphs = {graph};
  for (size_t i = place + 1; i < node.inputs.size(); ++i) {
    call.operands.push_back(node.inputs[i].arg);
  }
  if (!fits(*graph, call.operands.size())) return rejected("gives its graph too many or too few");
  return call;
}

/// (device, dtype, enabled, cache_enabled, graph, operands …)
HigherOrder autocast(const Node& node) {
  constexpr size_t kGraph = 4;
  if (node.inputs.size() <= kGraph) return rejected("has no graph");
  const Argument& device = node.inputs[0].arg;
  const Argument& enabled = node.inputs[2].arg;
  if (device.kind != ArgumentKind::Text || enabled.kind != ArgumentKind::Boolean) {
    return rejected("says neither where nor whether");
  }
  if (!is_false(enabled) && view(device.text) == "cpu") {
    return rejected("asks for lower precision: export the model outside of torch.autocast");
  }
  return inlined(node, kGraph);
}

/// (predicate, graph if true, graph if false, (operands …))
HigherOrder cond(const Node& node) {
  const Graph* const if_true = graph_at(node.inputs, 1);
  const Graph* const if_false = graph_at(node.inputs, 2);
  const Arguments* const operands = list_at(node.inputs, 3);
  if (!if_true || !if_false || !operands) return rejected("has not two graphs and their operands");
  if (!fits(*if_true, operands->size()) || !fits(*if_false, operands->size())) {
    return rejected("gives its graphs too many or too few operands");
  }
  HigherOrder call;
  call.kind = HigherOrder::Kind::kCond;
  call.graphs = {if_true, if_false};
  call.predicate = node.inputs[0].arg;
  call.operands = *operands;
  return call;
}

/// (condition, body, (carried …), (read …))
HigherOrder while_loop(const Node& node) {
  const Graph* const condition = graph_at(node.inputs, 0);
  const Graph* const body = graph_at(node.inputs, 1);
  const Arguments* const carried = list_at(node.inputs, 2);
  if (!condition || !body || !carried) return rejected("has not two graphs and their operands");
  HigherOrder call;
  call.kind = HigherOrder::Kind::kWhileLoop;
  call.graphs = {condition, body};
  call.operands = *carried;
  call.carried = carried->size();
  if (const Arguments* const read = list_at(node.inputs, 3)) {
    std::ranges::copy(*read, std::back_inserter(call.operands));
  }
  if (!fits(*condition, call.operands.size()) || !fits(*body, call.operands.size()) ||
      condition->outputs.size() != 1 || body->outputs.size() != call.carried) {
    return rejected("gives its graphs too many or too few operands");
  }
  return call;
}

}  // namespace

HigherOrder read_higher_order(const Node& node) {
  const std::string_view target = view(node.target);
  if (target == "torch.ops.higher_order.wrap_with_set_grad_enabled") return inlined(node, 1);
  if (target == "torch.ops.higher_order.wrap_with_autocast") return autocast(node);
  if (target == "torch.ops.higher_order.cond") return cond(node);
  if (target == "torch.ops.higher_order.while_loop") return while_loop(node);
  return rejected("is not supported");
}

}  // namespace backend
