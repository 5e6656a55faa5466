// Which memory a run may write to.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "exported/graph.h"

namespace backend {

/// The values of each graph whose memory a run may write to.
struct WrittenValues : std::unordered_map<const Graph*, std::unordered_set<std::string>> {
  /// `graph`: the one that names the value.
  bool has(const Graph& graph, const std::string& value) const {
    const auto values = find(&graph);
    return values != end() && values->second.contains(value);
  }
};

/// Looks at all graphs of a program, without running anything. Cautious: what may share memory with
/// something written to, for some input, counts as written to.
WrittenValues written_values(const Graph& graph, const std::set<std::string>& added_operators);

}  // namespace backend
