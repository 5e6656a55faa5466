#include "exported/read_program.h"

#include <utility>
#include <vector>

#include "backend/model_config.h"
#include "exported/field.h"

namespace backend {
namespace {

constexpr int64_t kSchemaMajor = 8;

std::string torch_version_of(const Field& program) {
  const auto version = program.find("torch_version");
  if (!version) return {};
  const std::string_view text = version->text();
  return "PyTorch " + std::string(text.substr(0, std::min<size_t>(text.find('+'), 40)));
}

void require_known_version(const Field& program, const std::string& made_by) {
  const int64_t major = program["schema_version"]["major"].integer();
  if (major == kSchemaMajor) return;
  throw LoadError("is of version " + std::to_string(major) + " of torch.export's schema" +
                  (made_by.empty() ? "" : ", by " + made_by) + ", expected " +
                  std::to_string(kSchemaMajor) +
                  ": export the model again with PyTorch 2.6 to 2.15");
}

/// Since PyTorch 2.9.
std::vector<Guard> read_guards(const Field& program, const Signature& signature) {
  constexpr size_t kMostGuards = 1'000;  // models have two or three for each input
  std::vector<Guard> guards;
  const auto list = program.find("guards_code");
  if (!list) return guards;
  std::vector<std::string> inputs;
  inputs.reserve(signature.user_inputs.size());
  for (const UserInput& user : signature.user_inputs) inputs.push_back(user.input.name);
  if (list->array_size() > kMostGuards) list->refuse("holds more conditions than any model has");
  for (size_t i = 0; i < list->size(); ++i) guards.emplace_back(list->at(i).text(), inputs);
  return guards;
}

/// Others than the caller's are what buffers become: no run sees what another one left behind.
void keep_outputs_of_caller(ReadProgram& read) {
  std::vector<Argument> outputs;
  for (const UserOutput& output : read.signature.outputs) {
    if (output.index >= read.graph.outputs.size()) {
      throw LoadError("its graph lacks outputs that its signature names");
    }
    outputs.push_back(read.graph.outputs[output.index]);
  }
  read.graph.outputs = std::move(outputs);
}

}  // namespace

const at::Tensor& ReadProgram::tensor(const std::string& name) const {
  for (const NamedTensors* tensors : {&archive.weights, &archive.constants}) {
    if (const auto found = tensors->find(name); found != tensors->end()) return found->second;
  }
  throw LoadError("has no tensor " + name + ", which its signature names");
}

ReadProgram read_program(const std::string& path) {
  ReadProgram read{.archive = open_exported_archive(path),
                   .signature = {},
                   .graph = {},
                   .guards = {},
                   .made_by = {}};
  try {
    const hf::JsonDocument document(read.archive.graph);
    const Field root(document.root());
    read.made_by = torch_version_of(root);
    require_known_version(root, read.made_by);
    read.signature = read_signature(root);
    read.guards = read_guards(root, read.signature);
    const Field graph_module = root["graph_module"];
    read.graph = read_graph(graph_module["graph"]);
  } catch (const hf::Error& error) {
    throw LoadError(std::string("its graph is no JSON: ") + error.what());
  }
  read.archive.graph.clear();
  read.archive.graph.shrink_to_fit();
  if (read.graph.inputs.size() != read.signature.inputs.size()) {
    throw LoadError("its graph has " + std::to_string(read.graph.inputs.size()) +
                    " inputs, but its signature " + std::to_string(read.signature.inputs.size()));
  }
  keep_outputs_of_caller(read);
  return read;
}

}  // namespace backend
