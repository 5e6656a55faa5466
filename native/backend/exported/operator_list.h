// What a graph uses, without running any of it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "backend/inspect.h"
#include "exported/graph.h"

namespace backend {

/// Of a graph, and of those inside it.
std::vector<OperatorReport> list_operators(const Graph& graph,
                                           const std::set<std::string>& added_operators);

/// Throws LoadError that names every operator that is refused, and a node that uses it.
void require_allowed_operators(const Graph& graph, const std::set<std::string>& added_operators);

}  // namespace backend
