// A graph as the file has it: nodes in the order in which they run, values by name.
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
/// Its inputs are by name, those of higher-order nodes without; its outputs are values, lists of
/// them, or none.
using Node = tokenizers::ExportedNode;

inline std::string_view view(const rust::String& text) { return {text.data(), text.size()}; }

/// By the numbers of torch/_export/serde/schema.py, 8.20, each of which was read: it is known.
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

/// Of a tensor, or of a number that is known when the graph runs.
inline bool is_value(const Argument& argument) { return argument.kind == ArgumentKind::Value; }

inline bool is_false(const Argument& argument) {
  return argument.kind == ArgumentKind::Boolean && argument.integer == 0;
}

/// Of what, the operator that is given it knows. Null: it is no list.
inline const Arguments* list_in(const Argument& argument) {
  return argument.kind == ArgumentKind::List ? &argument.items : nullptr;
}

/// Null: it is no graph.
inline const Graph* graph_in(const Argument& argument) {
  return argument.kind == ArgumentKind::Graph ? &argument.graph.front() : nullptr;
}

/// Calls visit(name) for each value in an argument, those of lists too.
template <class Visit>
void for_each_value(const Argument& argument, const Visit& visit) {
  if (is_value(argument)) visit(std::string(argument.text));
  for (const Argument& item : argument.items) for_each_value(item, visit);
}

/// Before schema 8.15 a node has the name of what it gives.
inline std::string name_of(const Node& node) {
  const bool is_named_by_output =
      node.name.empty() && !node.outputs.empty() && is_value(node.outputs.front());
  return std::string(is_named_by_output ? node.outputs.front().text : node.name);
}

/// A node that runs other graphs.
inline bool is_higher_order(const Node& node) {
  return view(node.target).starts_with("torch.ops.higher_order.");
}

}  // namespace backend
