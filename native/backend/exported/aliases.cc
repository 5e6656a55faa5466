#include "exported/aliases.h"

#include <algorithm>
#include <ranges>

#include "exported/higher_order.h"
#include "exported/operators.h"
#include "program/run_limit.h"

namespace backend {
namespace {

class Search {
 public:
  explicit Search(const std::set<std::string>& added_operators)
      : added_operators_(added_operators) {}

  WrittenValues of(const Graph& graph) {
    do {
      check_run_limit();
      has_grown_ = false;
      look_at(graph);
    } while (has_grown_);  // what a loop carries goes round
    return std::move(written_);
  }

 private:
  /// Against the order in which they run: what is written to was made before.
  void look_at(const Graph& graph) {
    for (size_t i = graph.nodes.size(); i > 0; --i) {
      const Node& node = graph.nodes[i - 1];
      const HigherOrder call = read_higher_order(node);
      if (call.problem.empty()) {
        look_inside(graph, node, call);
      } else {
        look_at(graph, node);
      }
    }
  }

  void look_at(const Graph& graph, const Node& node) {
    const auto op = find_operator(node.target, added_operators_).handle;
    if (!op) return;  // arithmetic, or a load error to come
    const auto& schema = op->schema();
    const bool is_result_written = std::ranges::any_of(
        node.outputs, [&](const Argument& output) { return is_written(graph, output); });
    for (const auto& [name, argument] : node.inputs) {
      const auto index = schema.argumentIndexWithName(std::string(name));
      const auto* declared = index ? &schema.arguments()[static_cast<size_t>(*index)] : nullptr;
      const bool is_shared =
          may_return_its_input(*op) || (declared != nullptr && declared->alias_info() != nullptr);
      const bool is_written = declared != nullptr && writes_to(*op, node, *declared);
      if (is_written || (is_shared && is_result_written)) mark(graph, argument);
    }
  }

  void look_inside(const Graph& outer, const Node& node, const HigherOrder& call) {
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
  void pass_on(const Graph& from, const Arguments& values, const Graph& to,
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
  return Search(added_operators).of(graph);
}

}  // namespace backend
