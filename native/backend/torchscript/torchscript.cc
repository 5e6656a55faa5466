#include "torchscript/torchscript.h"

#include <filesystem>
#include <utility>

#include "backend/model_config.h"
#include "program/report.h"
#include "torchscript/module.h"
#include "torchscript/operators.h"

namespace backend {
namespace {

/// Those of forward() that have no default.
std::vector<ProgramInput> inputs_of(const torch::jit::Module& module) {
  std::vector<ProgramInput> inputs;
  for (const auto& argument : module.get_method("forward").function().getSchema().arguments()) {
    if (!argument.default_value()) {
      inputs.push_back({.name = argument.name(), .type = {}, .sizes = {}});
    }
  }
  inputs.erase(inputs.begin());  // self
  return inputs;
}

class TorchScriptProgram final : public Program {
 public:
  explicit TorchScriptProgram(TorchScriptModule loaded)
      : loaded_(std::move(loaded)),
        keeps_state_(keeps_state(loaded_.module)),
        inputs_(inputs_of(loaded_.module)) {}

  std::string kind() const override { return "torchscript"; }
  const std::vector<ProgramInput>& inputs() const override { return inputs_; }
  void prepare_thread() const override { set_up_torchscript_thread(); }
  std::vector<std::string> warnings() const override { return loaded_.warnings; }

  c10::IValue run(std::vector<c10::IValue> inputs) const override {
    // A copy shares the weights and has attributes of its own: no run sees the state of another.
    const torch::jit::Module module = keeps_state_ ? loaded_.module.copy() : loaded_.module;
    return run_forward(module, std::move(inputs));
  }

 private:
  TorchScriptModule loaded_;
  bool keeps_state_;
  std::vector<ProgramInput> inputs_;
};

}  // namespace

std::unique_ptr<Program> load_torchscript(const std::string& path, const ComputeOptions& compute) {
  if (compute.dtype != Dtype::kFloat32) {
    throw LoadError(std::filesystem::path(path).filename().string() +
                    ": a TorchScript model computes in the numbers it was saved with: "
                    "DTYPE must be float32");
  }
  return std::make_unique<TorchScriptProgram>(load_torchscript_module(path, compute));
}

ProgramReport inspect_torchscript(const std::string& path,
                                  const std::set<std::string>& allowed_operators) {
  const torch::jit::Module module = read_torchscript_module(path);
  ProgramReport report;
  report.kind = "torchscript";
  for (const ProgramInput& input : inputs_of(module)) report.inputs.push_back(described(input));
  WeightCount weights;
  for (const at::Tensor& tensor : module.parameters()) weights.add(tensor);
  for (const at::Tensor& tensor : module.buffers()) weights.add(tensor);
  weights.write_to(report);
  report.operators = list_operators(module, allowed_operators);
  return report;
}

}  // namespace backend
