#include "exported/operator_list.h"

#include "exported/higher_order.h"
#include "exported/operators.h"
#include "exported/symbolic.h"

namespace backend {
namespace {

template <typename Visit>
void for_each_node(const Graph& graph, const Visit& visit) {
  for (const Node& node : graph.nodes) {
    visit(node);
    for (const auto& [name, argument] : node.inputs) {
      if (const auto* inner = std::get_if<std::shared_ptr<const Graph>>(&argument)) {
        for_each_node(**inner, visit);
      }
    }
  }
}

}  // namespace

std::map<std::string, std::string> refused_operators(const Graph& graph,
                                                     const std::set<std::string>& added_operators) {
  std::map<std::string, std::string> refused;
  for_each_node(graph, [&](const Node& node) {
    std::string problem;
    if (node.target.starts_with("torch.ops.higher_order.")) {
      problem = read_higher_order(node).problem;
    } else if (!symbolic_operator(node.target)) {
      problem = find_operator(node.target, added_operators).problem;
    }
    if (!problem.empty()) refused.emplace(node.target, problem);
  });
  return refused;
}

std::map<std::string, size_t> count_operators(const Graph& graph) {
  std::map<std::string, size_t> counts;
  for_each_node(graph, [&](const Node& node) { ++counts[node.target]; });
  return counts;
}

}  // namespace backend
