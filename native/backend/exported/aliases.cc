#include "exported/aliases.h"

#include <algorithm>

#include "exported/higher_order.h"
#include "exported/operators.h"

namespace backend {
namespace {

std::vector<std::string> names_in(const std::vector<Argument>& arguments) {
  std::vector<std::string> names;
  for (const Argument& argument : arguments) {
    for_each_value(argument, [&](const std::string& name) { names.push_back(name); });
  }
  return names;
}

}  // namespace

Aliases::Aliases(const Graph& graph, const std::set<std::string>& added_operators)
    : added_operators_(added_operators) {
  look_at(graph);
  // What was united later with something written is written, too.
  for (Class member = 0; member < written_.size(); ++member) {
    if (written_[member]) written_[root_of(member)] = true;
  }
}

bool Aliases::is_written(const Graph& graph, const std::string& value) const {
  const auto values = classes_.find(&graph);
  if (values == classes_.end()) return false;
  const auto found = values->second.find(value);
  return found != values->second.end() && written_[root_of(found->second)];
}

Aliases::Class Aliases::class_of(const Graph& graph, const std::string& value) {
  const auto [entry, is_new] = classes_[&graph].try_emplace(value, parents_.size());
  if (is_new) {
    parents_.push_back(entry->second);
    written_.push_back(false);
  }
  return entry->second;
}

Aliases::Class Aliases::root_of(Class member) const {
  while (parents_[member] != member) {
    parents_[member] = parents_[parents_[member]];
    member = parents_[member];
  }
  return member;
}

void Aliases::unite(Class one, Class other) { parents_[root_of(one)] = root_of(other); }

void Aliases::look_at(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const bool has_graph = std::ranges::any_of(node.inputs, [](const auto& input) {
      return std::holds_alternative<std::shared_ptr<const Graph>>(input.second);
    });
    if (has_graph) {
      look_inside(graph, node);
    } else {
      look_at(graph, node);
    }
  }
}

void Aliases::look_at(const Graph& graph, const Node& node) {
  const auto op = find_operator(node.target, added_operators_).handle;
  if (!op) return;  // arithmetic, or a load error to come
  const auto& schema = op->schema();
  const bool shares_all = may_return_its_input(*op);
  const bool shares_some = std::ranges::any_of(
      schema.returns(), [](const auto& result) { return result.alias_info() != nullptr; });
  const std::vector<std::string> results = names_in(node.outputs);
  for (const auto& [name, argument] : node.inputs) {
    const auto index = schema.argumentIndexWithName(name);
    const auto* declared = index ? &schema.arguments()[static_cast<size_t>(*index)] : nullptr;
    const bool is_written = declared != nullptr && writes_to(*op, node, *declared);
    const bool is_shared =
        shares_all || (shares_some && declared != nullptr && declared->alias_info() != nullptr);
    if (!is_shared && !is_written) continue;
    for_each_value(argument, [&](const std::string& value) {
      const Class given = class_of(graph, value);
      if (is_written) written_[given] = true;
      if (!is_shared) return;
      for (const std::string& result : results) unite(class_of(graph, result), given);
    });
  }
}

void Aliases::look_inside(const Graph& outer, const Node& node) {
  const auto call = read_higher_order(node).call;
  if (!call) return;  // a load error to come
  for (const Graph* inner : call->graphs) {
    unite_all(outer, call->operands, *inner, inner->inputs);
    unite_all(outer, node.outputs, *inner, inner->outputs);
    look_at(*inner);
  }
  if (call->kind == HigherOrder::Kind::kWhileLoop) {  // what it carries goes round
    unite_all(outer, node.outputs, outer, call->operands);
  }
}

void Aliases::unite_all(const Graph& one, const std::vector<Argument>& values, const Graph& other,
                        const std::vector<Argument>& others) {
  for (size_t i = 0; i < std::min(values.size(), others.size()); ++i) {
    const auto* value = std::get_if<ValueName>(&values[i]);
    const auto* with = std::get_if<ValueName>(&others[i]);
    if (value && with) unite(class_of(one, value->name), class_of(other, with->name));
  }
}

}  // namespace backend
