// Builds the execution plan of a graph.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "packed/linear.h"
#include "programs/exported/aliases.h"
#include "programs/exported/graph.h"
#include "programs/exported/higher_order.h"
#include "programs/exported/plan.h"

namespace backend {

/// Options of all plans of a program.
struct PlanOptions {
  const WrittenValues& written;
  const std::set<std::string>& added_operators;
  PackedLinears& layers;
  SharedMemory& shared;  ///< values computed at load time are added
};

/// Builds a plan. Operators with constant inputs are executed now, unless runs write to their
/// results. Throws LoadError with operator and node.
///
/// inputs: for each input of the graph its constant value; unset: provided for each run.
Plan build_plan(const Graph& graph, const std::vector<std::optional<c10::IValue>>& inputs,
                const PlanOptions& options);

}  // namespace backend
