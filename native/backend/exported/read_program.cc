#include "exported/read_program.h"

#include <utility>
#include <vector>

#include "backend/model_config.h"
#include "hf/bridge.h"

namespace backend {
namespace {

/// Since PyTorch 2.9.
std::vector<Guard> guards_of(const hf::ExportedProgram& read, const Signature& signature) {
  std::vector<std::string> inputs;
  inputs.reserve(signature.user_inputs.size());
  for (const UserInput& user : signature.user_inputs) inputs.push_back(user.input.name);
  std::vector<Guard> guards;
  for (const rust::String& guard : read.guards) guards.emplace_back(std::string(guard), inputs);
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
    const hf::ExportedProgram program = hf::read_exported_program(hf::bytes(read.archive.graph));
    read.made_by = std::string(program.made_by);
    read.signature = signature_of(program);
    read.guards = guards_of(program, read.signature);
    read.graph = graph_of(program.graph);
  } catch (const rust::Error& error) {
    throw LoadError(error.what());
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
