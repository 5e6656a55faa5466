#include "exported/graph.h"

#include <functional>
#include <string_view>
#include <unordered_map>

#include "exported/scalar_types.h"

namespace backend {
namespace {

/// Of all graphs of a file. The largest classifiers have some ten thousand.
constexpr size_t kMostNodes = 100'000;

using ReadArgument = std::function<Argument(const Field&)>;

Argument named(const Field& value) { return ValueName{std::string(value["name"].text())}; }

/// A number that is written there, or the name of one.
Argument symbolic(const Field& value) {
  const std::string_view kind = value.alternative();
  const Field inner = value.of_alternative();
  if (kind == "as_name") return ValueName{std::string(inner.text())};
  if (kind == "as_int") return inner.integer();
  if (kind == "as_float") return inner.number();
  if (kind == "as_bool") return inner.boolean();
  value.refuse("unknown kind of number " + std::string(kind));
}

Argument optional_tensor(const Field& value) {
  if (value.alternative() == "as_none") return std::monostate{};
  return named(value.of_alternative());
}

ReadArgument list_of(ReadArgument read_item) {
  return [read_item = std::move(read_item)](const Field& value) {
    ArgumentList list;
    list.items.reserve(value.array_size());
    for (size_t i = 0; i < value.size(); ++i) list.items.push_back(read_item(value.at(i)));
    return Argument(std::move(list));
  };
}

/// Devices other than this one are where a model was exported: it runs here.
Argument device(const Field&) { return c10::Device(c10::kCPU); }

/// The alternatives of Argument. Source: torch/_export/serde/schema.py, 8.20.
const std::unordered_map<std::string_view, ReadArgument>& readers() {
  static const auto* readers = [] {
    const ReadArgument integer = [](const Field& value) { return value.integer(); };
    const ReadArgument number = [](const Field& value) { return value.number(); };
    const ReadArgument boolean = [](const Field& value) { return value.boolean(); };
    const ReadArgument text = [](const Field& value) { return std::string(value.text()); };
    return new std::unordered_map<std::string_view, ReadArgument>{
        {"as_none", [](const Field&) { return std::monostate{}; }},
        {"as_tensor", named},
        {"as_tensors", list_of(named)},
        {"as_optional_tensor", optional_tensor},
        {"as_optional_tensors", list_of(optional_tensor)},
        {"as_nested_tensors", list_of(list_of(named))},
        {"as_int", integer},
        {"as_ints", list_of(integer)},
        {"as_int_lists", list_of(list_of(integer))},
        {"as_float", number},
        {"as_floats", list_of(number)},
        {"as_float_lists", list_of(list_of(number))},
        {"as_bool", boolean},
        {"as_bools", list_of(boolean)},
        {"as_string", text},
        {"as_strings", list_of(text)},
        {"as_complex",
         [](const Field& value) {
           return c10::complex<double>(value["real"].number(), value["imag"].number());
         }},
        {"as_sym_int", symbolic},
        {"as_sym_ints", list_of(symbolic)},
        {"as_sym_float", symbolic},
        {"as_sym_floats", list_of(symbolic)},
        {"as_sym_bool", symbolic},
        {"as_sym_bools", list_of(symbolic)},
        {"as_scalar_type", scalar_type_of},
        {"as_memory_format", memory_format_of},
        {"as_layout", layout_of},
        {"as_device", device},
    };
  }();
  return *readers;
}

/// Reads graphs, and counts the nodes of all of them.
class GraphReader {
 public:
  Argument argument(const Field& field) {
    const std::string_view kind = field.alternative();
    if (kind == "as_graph") {
      const Field inner = field.of_alternative();
      return std::make_shared<const Graph>(graph(inner["graph"]));
    }
    const auto reader = readers().find(kind);
    if (reader == readers().end()) {
      field.refuse("is of the kind " + std::string(kind) + ", which is not supported");
    }
    return reader->second(field.of_alternative());
  }

  Graph graph(const Field& field) {
    Graph graph{
        .inputs = arguments(field["inputs"]), .outputs = arguments(field["outputs"]), .nodes = {}};
    const Field nodes = field["nodes"];
    nodes_ += nodes.array_size();
    if (nodes_ > kMostNodes) {
      nodes.refuse("holds, with those before it, " + std::to_string(nodes_) +
                   " nodes, more than the " + std::to_string(kMostNodes) + " that are allowed");
    }
    graph.nodes.reserve(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) graph.nodes.push_back(node(nodes.at(i)));
    return graph;
  }

 private:
  Node node(const Field& field);

  std::vector<Argument> arguments(const Field& list) {
    std::vector<Argument> arguments;
    arguments.reserve(list.array_size());
    for (size_t i = 0; i < list.size(); ++i) arguments.push_back(argument(list.at(i)));
    return arguments;
  }

  size_t nodes_ = 0;
};

Node GraphReader::node(const Field& field) {
  Node node{.name = {}, .target = std::string(field["target"].text()), .inputs = {}, .outputs = {}};
  const Field inputs = field["inputs"];
  for (size_t i = 0; i < inputs.array_size(); ++i) {
    const Field input = inputs.at(i);
    node.inputs.emplace_back(input["name"].text(), argument(input["arg"]));
  }
  const Field outputs = field["outputs"];
  for (size_t i = 0; i < outputs.array_size(); ++i) {
    node.outputs.push_back(argument(outputs.at(i)));
  }
  // Since schema 8.15; before, a node has no name but that of what it gives.
  if (const auto name = field.find("name")) {
    node.name = name->text();
  } else if (!node.outputs.empty()) {
    if (const auto* value = std::get_if<ValueName>(&node.outputs.front())) node.name = value->name;
  }
  return node;
}

}  // namespace

Argument read_argument(const Field& argument) { return GraphReader().argument(argument); }

Graph read_graph(const Field& graph) { return GraphReader().graph(graph); }

}  // namespace backend
