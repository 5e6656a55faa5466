// A graph as the file has it: nodes in the order in which they run, values by name.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/util/complex.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hf/bridge.h"

namespace backend {

struct Graph;
struct Argument;

/// Of a tensor, or of a number that is known when the graph runs.
struct ValueName {
  std::string name;
};

/// Of what, the operator that is given it knows.
struct ArgumentList {
  std::vector<Argument> items;
};

/// std::monostate is None.
struct Argument
    : std::variant<std::monostate, ValueName, ArgumentList, int64_t, double, bool, std::string,
                   c10::complex<double>, c10::ScalarType, c10::MemoryFormat, c10::Layout,
                   c10::Device, std::shared_ptr<const Graph>> {
  using variant::variant;
};

struct Node {
  std::string name;
  std::string target;  ///< "torch.ops.aten.linear.default", "_operator.add"
  std::vector<std::pair<std::string, Argument>> inputs;  ///< by name; higher-order: without
  std::vector<Argument> outputs;                         ///< ValueName, a list of them, or none
};

struct Graph {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Node> nodes;
};

/// Calls visit(name) for each value in an argument, those of lists too.
template <class Visit>
void for_each_value(const Argument& argument, const Visit& visit) {
  if (const auto* value = std::get_if<ValueName>(&argument)) visit(value->name);
  if (const auto* list = std::get_if<ArgumentList>(&argument)) {
    for (const Argument& item : list->items) for_each_value(item, visit);
  }
}

/// Nothing of it is looked up yet.
Graph graph_of(const hf::ExportedGraph& read);
Argument argument_of(const hf::Argument& read);

}  // namespace backend
