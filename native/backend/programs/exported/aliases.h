// Write analysis: values whose memory a run may write to.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "programs/exported/graph.h"

namespace backend {

/// Values of each graph whose memory a run may write to.
struct WrittenValues : std::unordered_map<const Graph*, std::unordered_set<std::string>> {
  /// `graph`: the graph that defines the value.
  bool has(const Graph& graph, const std::string& value) const {
    const auto values = find(&graph);
    return values != end() && values->second.contains(value);
  }
};

/// Analyzes all graphs of a program without running them. Conservative: a value counts as written
/// if it may share memory with a written value.
WrittenValues written_values(const Graph& graph, const std::set<std::string>& added_operators);

}  // namespace backend
