// Which values of a graph may share memory, and which memory a run may write to.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "exported/graph.h"

namespace backend {

/// Looks at all graphs of a program, without running anything. Cautious: what may share memory for
/// some input counts as sharing it.
class Aliases {
 public:
  /// Values of the outermost graph whose names are not given are inputs.
  Aliases(const Graph& graph, const std::set<std::string>& added_operators);

  /// Whether the memory of that value may be written to. `graph`: the one that names it.
  bool is_written(const Graph& graph, const std::string& value) const;

 private:
  using Class = size_t;

  Class class_of(const Graph& graph, const std::string& value);
  Class root_of(Class member) const;
  void unite(Class one, Class other);
  void look_at(const Graph& graph);
  void look_at(const Graph& graph, const Node& node);
  void look_inside(const Graph& outer, const Node& node);
  void unite_all(const Graph& one, const std::vector<Argument>& values, const Graph& other,
                 const std::vector<Argument>& others);

  const std::set<std::string>& added_operators_;
  std::unordered_map<const Graph*, std::unordered_map<std::string, Class>> classes_;
  mutable std::vector<Class> parents_;
  std::vector<bool> written_;
};

}  // namespace backend
