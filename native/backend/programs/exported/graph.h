// Graph of an exported program: nodes in execution order, values by name.
#pragma once

#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tokenizers/bridge.h"

namespace backend {

using tokenizers::Argument;
using tokenizers::ArgumentKind;
using Arguments = rust::Vec<Argument>;
using Graph = tokenizers::ExportedGraph;
/// Inputs have names, except those of higher-order nodes. Outputs are values, lists of values, or
/// None.
using Node = tokenizers::ExportedNode;

inline std::string_view view(const rust::String& text) { return {text.data(), text.size()}; }

/// Converts the numbers of torch/_export/serde/schema.py, 8.20. The reader has validated them.
inline c10::ScalarType scalar_type_of(int64_t number) {
  using enum c10::ScalarType;
  constexpr std::array kTypes{Byte,          Char,  Short,   Int,         Long,
                              Half,          Float, Double,  ComplexHalf, ComplexFloat,
                              ComplexDouble, Bool,  BFloat16};
  return kTypes.at(static_cast<size_t>(number - 1));
}

inline c10::MemoryFormat memory_format_of(int64_t number) {
  using enum c10::MemoryFormat;
  constexpr std::array kFormats{Contiguous, ChannelsLast, ChannelsLast3d, Preserve};
  return kFormats.at(static_cast<size_t>(number - 1));
}

/// True for a reference to a tensor or to a number that is computed at run time.
inline bool is_value(const Argument& argument) { return argument.kind == ArgumentKind::Value; }

inline bool is_false(const Argument& argument) {
  return argument.kind == ArgumentKind::Boolean && argument.integer == 0;
}

/// Items of a list; null if the argument is not a list. The operator determines the item type.
inline const Arguments* list_in(const Argument& argument) {
  return argument.kind == ArgumentKind::List ? &argument.items : nullptr;
}

/// The graph; null if the argument is not a graph.
inline const Graph* graph_in(const Argument& argument) {
  return argument.kind == ArgumentKind::Graph ? &argument.graph.front() : nullptr;
}

/// Calls visit(name) for each value in an argument, including items of lists.
template <class Visit>
void for_each_value(const Argument& argument, const Visit& visit) {
  if (is_value(argument)) visit(std::string(argument.text));
  for (const Argument& item : argument.items) for_each_value(item, visit);
}

/// Name of a node. Before schema 8.15 it is the name of its output.
inline std::string name_of(const Node& node) {
  const bool is_named_by_output =
      node.name.empty() && !node.outputs.empty() && is_value(node.outputs.front());
  return std::string(is_named_by_output ? node.outputs.front().text : node.name);
}

/// True for nodes that execute subgraphs.
inline bool is_higher_order(const Node& node) {
  return view(node.target).starts_with("torch.ops.higher_order.");
}

}  // namespace backend
