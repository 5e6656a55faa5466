#include "exported/signature.h"

#include <optional>

#include "exported/scalar_types.h"
#include "program/signature.h"

namespace backend {
namespace {

/// "Symbol('s77', positive=True, integer=True)" → s77; nothing for an expression of symbols.
std::optional<std::string> symbol_in(std::string_view expression) {
  constexpr std::string_view kBegin = "Symbol('";
  if (!expression.starts_with(kBegin)) return std::nullopt;
  const size_t end = expression.find('\'', kBegin.size());
  const size_t close = expression.find(')');
  if (end == std::string_view::npos || close != expression.size() - 1) return std::nullopt;
  return std::string(expression.substr(kBegin.size(), end - kBegin.size()));
}

Extent extent_of(const Field& constraints, const std::string& symbol) {
  Extent extent;
  const auto range = constraints.find(symbol);
  if (!range) return extent;
  if (const auto least = range->find("min_val")) extent.least = least->integer();
  if (const auto most = range->find("max_val")) {
    // PyTorch 2.6 writes a number beyond 64 bits for none.
    if (most->number() < 9e18) extent.most = most->integer();
  }
  if (extent.least > extent.most) range->refuse("the least size is above the largest");
  return as_meant(extent);
}

UserInput user_input(const std::string& name, const Field& program) {
  const Field values = program["graph_module"]["graph"]["tensor_values"];
  const Field meta = values[name];
  UserInput user{.input = {.name = name, .type = scalar_type_of(meta["dtype"]), .sizes = {}},
                 .symbols = {}};
  std::vector<Extent>& extents = user.input.sizes.emplace();
  const Field sizes = meta["sizes"];
  const Field constraints = program["range_constraints"];
  const size_t rank = rank_of(sizes);
  for (size_t i = 0; i < rank; ++i) {
    const Field size = sizes.at(i);
    if (size.alternative() == "as_int") {
      const int64_t fixed = size.of_alternative().integer();
      if (fixed < 0) size.refuse("is below 0");
      extents.push_back({.least = fixed, .most = fixed});
      user.symbols.emplace_back();
      continue;
    }
    const std::string_view expression = size["as_expr"]["expr_str"].text();
    const auto symbol = symbol_in(expression);
    if (!symbol) {
      throw LoadError(
          "input " + name + ": dimension " + std::to_string(i) + " depends on others (" +
          std::string(expression.substr(0, 100)) +
          "): export the model with a size of its own for each dimension, or a fixed one");
    }
    extents.push_back(extent_of(constraints, *symbol));
    user.symbols.push_back(*symbol);
  }
  return user;
}

void add_input(const Field& spec, const Field& program, Signature& signature) {
  const std::string_view kind = spec.alternative();
  const Field input = spec.of_alternative();
  const auto tensor = [&](const char* key) {
    signature.inputs.push_back({.kind = GraphInput::Kind::kTensor,
                                .tensor = std::string(input[key].text()),
                                .constant = {}});
  };
  if (kind == "parameter") return tensor("parameter_name");
  if (kind == "buffer") return tensor("buffer_name");
  if (kind == "tensor_constant") return tensor("tensor_constant_name");
  if (kind == "constant_input") {
    signature.inputs.push_back({.kind = GraphInput::Kind::kConstant,
                                .tensor = {},
                                .constant = read_argument(input["value"])});
    return;
  }
  if (kind != "user_input") {
    spec.refuse("is of the kind " + std::string(kind) + ", which is not supported");
  }
  const Argument argument = read_argument(input["arg"]);
  if (const auto* value = std::get_if<ValueName>(&argument)) {
    if (input["arg"].alternative() != "as_tensor") {
      throw LoadError("input " + value->name +
                      ": is a number that is given to each run: export the " +
                      "model with a fixed one");
    }
    signature.user_inputs.push_back(user_input(value->name, program));
    signature.inputs.push_back({.kind = GraphInput::Kind::kUser, .tensor = {}, .constant = {}});
  } else {
    signature.inputs.push_back(
        {.kind = GraphInput::Kind::kConstant, .tensor = {}, .constant = argument});
  }
}

// ---- Names of outputs ----

/// The keys of a dictionary or a dataclass, which its context lists; of a tuple: numbers.
std::vector<std::string> keys_of(const Field& tree) {
  const size_t count = tree["children_spec"].array_size();
  std::vector<std::string> keys(count);
  for (size_t i = 0; i < count; ++i) keys[i] = std::to_string(i);
  const auto context = tree.find("context");
  if (!context) return keys;
  try {
    const hf::JsonDocument document(context->text());
    const Field root(document.root());
    // A dictionary's is its keys; a dataclass's begins with them.
    const Field list = root.size() == count ? root : root.at(0);
    if (list.array_size() != count) return keys;
    for (size_t i = 0; i < count; ++i) keys[i] = list.at(i).text();
  } catch (const std::runtime_error&) {
    for (size_t i = 0; i < count; ++i) keys[i] = std::to_string(i);  // of a form of its own
  }
  return keys;
}

/// What an answer would be named by.
constexpr size_t kMostName = 1000;

void collect_leaves(const Field& tree, const std::string& name, std::vector<std::string>& leaves) {
  const Field children = tree["children_spec"];
  if (name.size() > kMostName) {
    tree.refuse("names an output by more than " + std::to_string(kMostName) + " letters");
  }
  if (!tree.find("type")) {
    leaves.push_back(name);
    return;
  }
  const std::vector<std::string> keys = keys_of(tree);
  for (size_t i = 0; i < children.array_size(); ++i) {
    collect_leaves(children.at(i), name.empty() ? keys[i] : name + "." + keys[i], leaves);
  }
}

/// As the outermost module's call returns them. Empty where the file does not say.
std::vector<std::string> output_names(const Field& program) {
  std::vector<std::string> names;
  const Field calls = program["graph_module"]["module_call_graph"];
  if (calls.array_size() == 0) return names;
  const Field call = calls.at(0);
  const auto signature = call.find("signature");
  if (!signature) return names;
  const Field spec = (*signature)["out_spec"];
  try {
    const hf::JsonDocument document(spec.text());
    const Field root(document.root());
    collect_leaves(root.at(1), "", names);
  } catch (const std::runtime_error& error) {  // LoadError, hf::Error
    spec.refuse(error.what());
  }
  return names;
}

void add_outputs(const Field& specs, const Field& program, Signature& signature) {
  for (size_t i = 0; i < specs.array_size(); ++i) {
    const Field spec = specs.at(i);
    if (spec.alternative() == "user_output") signature.outputs.push_back({.index = i, .name = {}});
  }
  const std::vector<std::string> names = output_names(program);
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    signature.outputs[i].name =
        names.size() == signature.outputs.size() ? names[i] : std::to_string(i);
  }
}

}  // namespace

Signature read_signature(const Field& exported_program) {
  Signature signature;
  const Field graph_module = exported_program["graph_module"];
  const Field specs = graph_module["signature"];
  const Field inputs = specs["input_specs"];
  for (size_t i = 0; i < inputs.array_size(); ++i) {
    add_input(inputs.at(i), exported_program, signature);
  }
  add_outputs(specs["output_specs"], exported_program, signature);
  return signature;
}

}  // namespace backend
