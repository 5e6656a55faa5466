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

#include "exported/field.h"

namespace backend {

struct Graph;
struct Argument;

/// Of a tensor, or of a number that is known when the graph runs.
struct ValueName {
  std::string name;
};

struct ArgumentList {
  enum class Of { kTensors, kOptionalTensors, kIntegers, kNumbers, kBooleans, kStrings, kLists };
  Of of;
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

/// Nothing of it is looked up yet. Throws LoadError that says where.
Graph read_graph(const Field& graph);
Argument read_argument(const Field& argument);

}  // namespace backend
