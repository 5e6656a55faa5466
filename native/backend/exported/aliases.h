// Which memory a run may write to.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exported/graph.h"
#include "exported/higher_order.h"

namespace backend {

/// Looks at all graphs of a program, without running anything. Cautious: what may share memory with
/// something written to, for some input, counts as written to.
class Aliases {
 public:
  Aliases(const Graph& graph, const std::set<std::string>& added_operators);

  /// Whether the memory of that value may be written to. `graph`: the one that names it.
  bool is_written(const Graph& graph, const std::string& value) const;

 private:
  void look_at(const Graph& graph);
  void look_at(const Graph& graph, const Node& node);
  void look_inside(const Graph& outer, const Node& node, const HigherOrder& call);
  void pass_on(const Graph& from, const std::vector<Argument>& values, const Graph& to,
               const std::vector<Argument>& others);
  void mark(const Graph& graph, const Argument& argument);
  bool is_any_written(const Graph& graph, const std::vector<Argument>& arguments) const;

  const std::set<std::string>& added_operators_;
  std::unordered_map<const Graph*, std::unordered_set<std::string>> written_;
  bool has_grown_ = false;
};

}  // namespace backend
