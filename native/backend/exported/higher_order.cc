#include "exported/higher_order.h"

#include <algorithm>
#include <utility>

namespace backend {
namespace {

using Inputs = std::vector<std::pair<std::string, Argument>>;

const Graph* graph_in(const Inputs& inputs, size_t index) {
  if (index >= inputs.size()) return nullptr;
  const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&inputs[index].second);
  return graph == nullptr ? nullptr : graph->get();
}

const std::vector<Argument>* list_in(const Inputs& inputs, size_t index) {
  if (index >= inputs.size()) return nullptr;
  const auto* list = std::get_if<ArgumentList>(&inputs[index].second);
  return list == nullptr ? nullptr : &list->items;
}

FoundHigherOrder refused(std::string problem) {
  return {.call = {}, .problem = std::move(problem)};
}

bool fits(const Graph& graph, size_t operands) { return graph.inputs.size() == operands; }

/// (…, graph, operand, operand, …): what stands before the graph changes nothing here.
FoundHigherOrder inlined(const Node& node, size_t place) {
  const Graph* const graph = graph_in(node.inputs, place);
  if (graph == nullptr) return refused("has no graph");
  HigherOrder call{
      .kind = HigherOrder::Kind::kInline, .graphs = {graph}, .predicate = {}, .operands = {}};
  for (size_t i = place + 1; i < node.inputs.size(); ++i) {
    call.operands.push_back(node.inputs[i].second);
  }
  if (!fits(*graph, call.operands.size())) return refused("gives its graph too many or too few");
  return {.call = std::move(call), .problem = {}};
}

/// (device, dtype, enabled, cache_enabled, graph, operands …)
FoundHigherOrder autocast(const Node& node) {
  constexpr size_t kGraph = 4;
  if (node.inputs.size() <= kGraph) return refused("has no graph");
  const auto* device = std::get_if<std::string>(&node.inputs[0].second);
  const auto* enabled = std::get_if<bool>(&node.inputs[2].second);
  if (device == nullptr || enabled == nullptr) return refused("says neither where nor whether");
  if (*enabled && *device == "cpu") {
    return refused("asks for lower precision: export the model outside of torch.autocast");
  }
  return inlined(node, kGraph);
}

/// (predicate, graph if true, graph if false, (operands …))
FoundHigherOrder cond(const Node& node) {
  const Graph* const if_true = graph_in(node.inputs, 1);
  const Graph* const if_false = graph_in(node.inputs, 2);
  const auto* const operands = list_in(node.inputs, 3);
  if (!if_true || !if_false || !operands) return refused("has not two graphs and their operands");
  if (!fits(*if_true, operands->size()) || !fits(*if_false, operands->size())) {
    return refused("gives its graphs too many or too few operands");
  }
  return {.call = HigherOrder{.kind = HigherOrder::Kind::kCond,
                              .graphs = {if_true, if_false},
                              .predicate = node.inputs[0].second,
                              .operands = *operands},
          .problem = {}};
}

/// (condition, body, (carried …), (read …))
FoundHigherOrder while_loop(const Node& node) {
  const Graph* const condition = graph_in(node.inputs, 0);
  const Graph* const body = graph_in(node.inputs, 1);
  const auto* const carried = list_in(node.inputs, 2);
  if (!condition || !body || !carried) return refused("has not two graphs and their operands");
  HigherOrder call{.kind = HigherOrder::Kind::kWhileLoop,
                   .graphs = {condition, body},
                   .predicate = {},
                   .operands = *carried,
                   .carried = carried->size()};
  if (const auto* const read = list_in(node.inputs, 3)) {
    call.operands.insert(call.operands.end(), read->begin(), read->end());
  }
  if (!fits(*condition, call.operands.size()) || !fits(*body, call.operands.size()) ||
      condition->outputs.size() != 1 || body->outputs.size() != call.carried) {
    return refused("gives its graphs too many or too few operands");
  }
  return {.call = std::move(call), .problem = {}};
}

}  // namespace

FoundHigherOrder read_higher_order(const Node& node) {
  if (node.target == "torch.ops.higher_order.wrap_with_set_grad_enabled") return inlined(node, 1);
  if (node.target == "torch.ops.higher_order.wrap_with_autocast") return autocast(node);
  if (node.target == "torch.ops.higher_order.cond") return cond(node);
  if (node.target == "torch.ops.higher_order.while_loop") return while_loop(node);
  return refused("is not supported");
}

}  // namespace backend
