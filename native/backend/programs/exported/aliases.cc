#include "programs/exported/aliases.h"

#include <algorithm>
#include <ranges>

#include "programs/exported/higher_order.h"
#include "programs/exported/operators.h"
#include "programs/run_limit.h"

namespace backend {
namespace {

class WriteAnalysis {
 public:
  explicit WriteAnalysis(const std::set<std::string>& added_operators)
      : added_operators_(added_operators) {}

  WrittenValues of(const Graph& graph) {
    do {
      check_run_limit();
      has_grown_ = false;
      visit(graph);
    } while (has_grown_);  // loop-carried values need several iterations
    return std::move(written_);
  }

 private:
  /// Visits nodes in reverse execution order: a written value was created earlier.
  void visit(const Graph& graph) {
    for (size_t i = graph.nodes.size(); i > 0; --i) {
      const Node& node = graph.nodes[i - 1];
      const HigherOrder call = read_higher_order(node);
      if (call.problem.empty()) {
        visit_inner(graph, node, call);
      } else {
        visit(graph, node);
      }
    }
  }

  void visit(const Graph& graph, const Node& node) {
    const auto op = find_operator(node.target, added_operators_).handle;
    if (!op) return;  // symbolic arithmetic, or a later load error
    const auto& schema = op->schema();
    const bool is_result_written = std::ranges::any_of(
        node.outputs, [&](const Argument& output) { return is_written(graph, output); });
    for (const auto& [name, argument] : node.inputs) {
      const auto index = schema.argumentIndexWithName(std::string(name));
      const auto* declared = index ? &schema.arguments()[static_cast<size_t>(*index)] : nullptr;
      const bool is_shared =
          may_alias_input(*op) || (declared != nullptr && declared->alias_info() != nullptr);
      const bool is_written = declared != nullptr && writes_to(*op, node, *declared);
      if (is_written || (is_shared && is_result_written)) mark(graph, argument);
    }
  }

  void visit_inner(const Graph& outer, const Node& node, const HigherOrder& call) {
    for (const Graph* inner : call.graphs) {
      propagate(outer, node.outputs, *inner, inner->outputs);
      visit(*inner);
      propagate(*inner, inner->inputs, outer, call.operands);
    }
    if (call.kind == HigherOrder::Kind::kWhileLoop) {
      propagate(outer, node.outputs, outer, call.operands);
      propagate(outer, call.operands, *call.graphs.back(), call.graphs.back()->outputs);
    }
  }

  /// Marks `others` as written where the corresponding `values`, which share their memory, are.
  void propagate(const Graph& from, const Arguments& values, const Graph& to,
                 const Arguments& others) {
    for (size_t i = 0; i < std::min(values.size(), others.size()); ++i) {
      if (is_written(from, values[i])) mark(to, others[i]);
    }
  }

  void mark(const Graph& graph, const Argument& argument) {
    for_each_value(argument, [&](const std::string& value) {
      has_grown_ = written_[&graph].insert(value).second || has_grown_;
    });
  }

  bool is_written(const Graph& graph, const Argument& argument) const {
    bool is_any = false;
    for_each_value(
        argument, [&](const std::string& value) { is_any = is_any || written_.has(graph, value); });
    return is_any;
  }

  const std::set<std::string>& added_operators_;
  WrittenValues written_;
  bool has_grown_ = false;
};

}  // namespace

WrittenValues written_values(const Graph& graph, const std::set<std::string>& added_operators) {
  return WriteAnalysis(added_operators).of(graph);
}

}  // namespace backend
