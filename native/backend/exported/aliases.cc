#include "exported/aliases.h"

#include <algorithm>
#include <ranges>

#include "exported/operators.h"
#include "program/run_limit.h"

namespace backend {

Aliases::Aliases(const Graph& graph, const std::set<std::string>& added_operators)
    : added_operators_(added_operators) {
  do {
    check_run_limit();
    has_grown_ = false;
    look_at(graph);
  } while (has_grown_);  // what a loop carries goes round
}

bool Aliases::is_written(const Graph& graph, const std::string& value) const {
  const auto values = written_.find(&graph);
  return values != written_.end() && values->second.contains(value);
}

/// Against the order in which they run: what is written to was made before.
void Aliases::look_at(const Graph& graph) {
  for (const Node& node : std::views::reverse(graph.nodes)) {
    if (const auto call = read_higher_order(node).call) {
      look_inside(graph, node, *call);
    } else {
      look_at(graph, node);
    }
  }
}

void Aliases::look_at(const Graph& graph, const Node& node) {
  const auto op = find_operator(node.target, added_operators_).handle;
  if (!op) return;  // arithmetic, or a load error to come
  const auto& schema = op->schema();
  const bool is_result_written = is_any_written(graph, node.outputs);
  for (const auto& [name, argument] : node.inputs) {
    const auto index = schema.argumentIndexWithName(name);
    const auto* declared = index ? &schema.arguments()[static_cast<size_t>(*index)] : nullptr;
    const bool is_shared =
        may_return_its_input(*op) || (declared != nullptr && declared->alias_info() != nullptr);
    const bool is_written = declared != nullptr && writes_to(*op, node, *declared);
    if (is_written || (is_shared && is_result_written)) mark(graph, argument);
  }
}

void Aliases::look_inside(const Graph& outer, const Node& node, const HigherOrder& call) {
  for (const Graph* inner : call.graphs) {
    pass_on(outer, node.outputs, *inner, inner->outputs);
    look_at(*inner);
    pass_on(*inner, inner->inputs, outer, call.operands);
  }
  if (call.kind == HigherOrder::Kind::kWhileLoop) {
    pass_on(outer, node.outputs, outer, call.operands);
    pass_on(outer, call.operands, *call.graphs.back(), call.graphs.back()->outputs);
  }
}

/// What is written of `values` is, too, of `others`, which share their memory.
void Aliases::pass_on(const Graph& from, const std::vector<Argument>& values, const Graph& to,
                      const std::vector<Argument>& others) {
  for (size_t i = 0; i < std::min(values.size(), others.size()); ++i) {
    if (is_any_written(from, {values[i]})) mark(to, others[i]);
  }
}

void Aliases::mark(const Graph& graph, const Argument& argument) {
  for_each_value(argument, [&](const std::string& value) {
    has_grown_ = written_[&graph].insert(value).second || has_grown_;
  });
}

bool Aliases::is_any_written(const Graph& graph, const std::vector<Argument>& arguments) const {
  bool is_any = false;
  for (const Argument& argument : arguments) {
    for_each_value(argument,
                   [&](const std::string& value) { is_any = is_any || is_written(graph, value); });
  }
  return is_any;
}

}  // namespace backend
