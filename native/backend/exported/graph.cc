#include "exported/graph.h"

#include "exported/scalar_types.h"

namespace backend {
namespace {

std::vector<Argument> arguments_of(const rust::Vec<hf::Argument>& read) {
  std::vector<Argument> arguments;
  arguments.reserve(read.size());
  for (const hf::Argument& argument : read) arguments.push_back(argument_of(argument));
  return arguments;
}

Node node_of(const hf::ExportedNode& read) {
  Node node{.name = std::string(read.name),
            .target = std::string(read.target),
            .inputs = {},
            .outputs = arguments_of(read.outputs)};
  node.inputs.reserve(read.inputs.size());
  for (const hf::NamedArgument& input : read.inputs) {
    node.inputs.emplace_back(std::string(input.name), argument_of(input.arg));
  }
  if (node.name.empty() && !node.outputs.empty()) {
    if (const auto* value = std::get_if<ValueName>(&node.outputs.front())) node.name = value->name;
  }
  return node;
}

}  // namespace

Argument argument_of(const hf::Argument& read) {
  using enum hf::ArgumentKind;
  switch (read.kind) {
    case Value:
      return ValueName{std::string(read.text)};
    case List:
      return ArgumentList{arguments_of(read.items)};
    case Integer:
      return read.integer;
    case Number:
      return read.number;
    case Boolean:
      return read.integer != 0;
    case Text:
      return std::string(read.text);
    case Complex:
      return c10::complex<double>(read.number, read.imaginary);
    case ScalarType:
      return scalar_type_of(read.integer);
    case MemoryFormat:
      return memory_format_of(read.integer);
    case Layout:
      return c10::kStrided;
    case Device:
      return c10::Device(c10::kCPU);
    case Graph:
      return std::make_shared<const backend::Graph>(graph_of(read.graph.front()));
    case None:
      break;
  }
  return std::monostate{};
}

Graph graph_of(const hf::ExportedGraph& read) {
  Graph graph{
      .inputs = arguments_of(read.inputs), .outputs = arguments_of(read.outputs), .nodes = {}};
  graph.nodes.reserve(read.nodes.size());
  for (const hf::ExportedNode& node : read.nodes) graph.nodes.push_back(node_of(node));
  return graph;
}

}  // namespace backend
