// What a graph uses, without running any of it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "exported/graph.h"

namespace backend {

/// Every operator of a graph, and of those inside it, that a plan could not be made with: operator
/// and reason.
std::map<std::string, std::string> refused_operators(const Graph& graph,
                                                     const std::set<std::string>& added_operators);

/// How many nodes call each.
std::map<std::string, size_t> count_operators(const Graph& graph);

}  // namespace backend
