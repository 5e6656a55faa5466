#include "exported/operator_list.h"

#include <map>
#include <utility>

#include "backend/model_config.h"
#include "exported/higher_order.h"
#include "exported/operators.h"
#include "exported/symbolic.h"

namespace backend {
namespace {

struct Use {
  size_t count = 0;
  std::string first_node;
  std::string problem;
};

std::string problem_of(const Node& node, const std::set<std::string>& added_operators) {
  if (node.target.starts_with("torch.ops.higher_order.")) return read_higher_order(node).problem;
  if (symbolic_operator(node.target)) return {};
  return find_operator(node.target, added_operators).problem;
}

void count(const Graph& graph, const std::set<std::string>& added_operators,
           std::map<std::string, Use>& uses) {
  for (const Node& node : graph.nodes) {
    Use& use = uses[node.target];
    if (use.count == 0) use.first_node = node.name;
    // One of several may be refused for what it asks for.
    if (use.problem.empty() && (use.count == 0 || node.target.starts_with("torch.ops.higher"))) {
      use.problem = problem_of(node, added_operators);
      if (!use.problem.empty()) use.first_node = node.name;
    }
    ++use.count;
    for (const auto& [name, argument] : node.inputs) {
      if (const auto* inner = std::get_if<std::shared_ptr<const Graph>>(&argument)) {
        count(**inner, added_operators, uses);
      }
    }
  }
}

}  // namespace

std::vector<OperatorReport> list_operators(const Graph& graph,
                                           const std::set<std::string>& added_operators) {
  std::map<std::string, Use> uses;
  count(graph, added_operators, uses);
  std::vector<OperatorReport> operators;
  operators.reserve(uses.size());
  for (const auto& [name, use] : uses) {
    operators.push_back({.name = name, .count = use.count, .problem = use.problem});
  }
  return operators;
}

void require_allowed_operators(const Graph& graph, const std::set<std::string>& added_operators) {
  std::map<std::string, Use> uses;
  count(graph, added_operators, uses);
  std::string message;
  std::string to_allow;
  for (const auto& [name, use] : uses) {
    if (use.problem.empty()) continue;
    message +=
        (message.empty() ? "" : "; ") + name + " (node " + use.first_node + ") " + use.problem;
    if (const auto allowed = name_to_allow(name); use.problem == kNotAllowed && !allowed.empty()) {
      to_allow += (to_allow.empty() ? "" : ",") + allowed;
    }
  }
  if (message.empty()) return;
  if (!to_allow.empty()) {
    message += "; if you trust the file, set ALLOWED_OPERATORS=" + to_allow;
  }
  throw LoadError(message);
}

}  // namespace backend
