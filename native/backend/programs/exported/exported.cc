#include "programs/exported/exported.h"

#include <ATen/core/Dict.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "programs/exported/guards.h"
#include "programs/exported/operators.h"
#include "programs/exported/plan_builder.h"
#include "programs/exported/read_program.h"
#include "programs/exported/scope.h"
#include "programs/report.h"
#include "programs/run_limit.h"
#include "runtime/compute_types.h"
#include "runtime/runtime.h"

namespace backend {
namespace {

class ExportedProgram final : public Program {
 public:
  ExportedProgram(ReadProgram read, const ComputeTypes& compute_types,
                  const ComputeOptions& compute)
      : linear_(compute_types.linear) {
    std::ranges::transform(read.program.user_inputs, std::back_inserter(inputs_), input_of);
    user_inputs_ = std::move(read.program.user_inputs);
    add_guards(read.program.guards);
    for (const tokenizers::UserOutput& output : read.program.outputs) {
      const std::string& name = output_names_.emplace_back(output.name);
      has_named_outputs_ =
          has_named_outputs_ || name.find_first_not_of(".0123456789") != std::string::npos;
    }
    const Graph& graph = read.program.graph;
    require_allowed_operators(graph, compute.allowed_operators);
    const WrittenValues written = written_values(graph, compute.allowed_operators);
    PackedLinears layers(linear_);
    plan_ = build_plan(graph, bind_inputs(read, written),
                       {.written = written,
                        .added_operators = compute.allowed_operators,
                        .layers = layers,
                        .shared = shared_});
    read.weights.clear();
    read.constants.clear();
    shared_.remove_unused();
    read.file->release_pages();
  }

  std::string kind() const override { return "exported"; }
  const std::vector<ProgramInput>& inputs() const override { return inputs_; }
  void prepare_thread() const override {}
  Dtype linear() const override { return linear_; }
  std::vector<std::string> warnings() const override { return warnings_; }

  c10::IValue run(std::vector<c10::IValue> inputs) const override {
    require_sizes(inputs);
    std::vector<c10::IValue> all;
    all.reserve(bound_inputs_.size());
    for (const BoundInput& given : bound_inputs_) {
      all.push_back(given.own ? c10::IValue(given.own->clone()) : std::move(inputs[given.user]));
    }
    std::vector<c10::IValue> outputs = run_plan(plan_, std::move(all), shared_);
    if (outputs.size() == 1) return std::move(outputs.front());
    return has_named_outputs_ ? named(std::move(outputs))
                              : c10::ivalue::Tuple::create(std::move(outputs));
  }

 private:
  /// An input of the plan: an input of the caller, or a tensor that runs write to and that is
  /// copied for each run.
  struct BoundInput {
    size_t user = 0;
    std::optional<at::Tensor> own;
  };

  c10::IValue named(std::vector<c10::IValue> outputs) const {
    c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
    for (size_t i = 0; i < outputs.size(); ++i) {
      dict.insert(output_names_[i], std::move(outputs[i]));
    }
    return dict;
  }

  /// Parses the guards, which files of PyTorch 2.9 and later contain.
  void add_guards(const rust::Vec<rust::String>& guards) {
    std::vector<std::string> names;
    names.reserve(inputs_.size());
    for (const ProgramInput& input : inputs_) names.push_back(input.name);
    for (const rust::String& text : guards) {
      Guard guard(view(text), names);
      if (guard.is_supported()) {
        guards_.push_back(std::move(guard));
      } else {
        warnings_.push_back("a condition under which the model was exported is not checked: " +
                            guard.text());
      }
    }
  }

  std::vector<std::optional<c10::IValue>> bind_inputs(const ReadProgram& read,
                                                      const WrittenValues& written) {
    const Graph& graph = read.program.graph;
    std::vector<std::optional<c10::IValue>> bound;
    size_t users = 0;
    for (size_t i = 0; i < read.program.inputs.size(); ++i) {
      const tokenizers::GraphInput& input = read.program.inputs[i];
      bound.emplace_back();
      if (input.kind == tokenizers::InputKind::Constant) {
        bound.back() = constant_of(input.constant, "an input");
        continue;
      }
      if (!is_value(graph.inputs[i])) {
        throw common::LoadError("its graph has a constant where a tensor is expected");
      }
      if (input.kind == tokenizers::InputKind::User) {
        bound_inputs_.push_back({.user = users++, .own = {}});
        continue;
      }
      const at::Tensor& tensor = read.tensor(std::string(input.tensor));
      shared_.add(tensor);
      if (written.has(graph, std::string(graph.inputs[i].text))) {
        bound_inputs_.push_back({.user = 0, .own = tensor});
      } else {
        bound.back() = tensor;
      }
    }
    return bound;
  }

  /// Validates the inputs: the graph is valid only for sizes within the ranges and guards of the
  /// export.
  void require_sizes(const std::vector<c10::IValue>& inputs) const {
    if (inputs.size() != inputs_.size()) {
      throw scheduler::BackendError("the model takes " + std::to_string(inputs_.size()) +
                                    " inputs, received " + std::to_string(inputs.size()));
    }
    std::map<std::string_view, int64_t> sizes;
    for (size_t i = 0; i < inputs.size(); ++i) {
      require_size(i, inputs[i].toTensor(), sizes);
    }
    for (const Guard& guard : guards_) {
      if (guard.holds(inputs)) continue;
      throw scheduler::BackendError("the model was exported for sizes where " + guard.text());
    }
  }

  void require_size(size_t input, const at::Tensor& tensor,
                    std::map<std::string_view, int64_t>& sizes) const {
    const ProgramInput& taken = inputs_[input];
    const rust::Vec<tokenizers::Size>& as_read = user_inputs_[input].sizes;
    const auto reject = [&](size_t dimension, const std::string& expected) {
      throw scheduler::BackendError(
          taken.name + ": dimension " + std::to_string(dimension) + " is " +
          std::to_string(tensor.size(static_cast<int64_t>(dimension))) + ", expected " + expected);
    };
    if (!taken.sizes || !taken.type) return;  // does not occur: a signature has both
    const std::vector<DimRange>& ranges = *taken.sizes;
    if (tensor.dim() != static_cast<int64_t>(ranges.size()) ||
        tensor.scalar_type() != *taken.type) {
      throw scheduler::BackendError(taken.name + ": has another type or number of dimensions");
    }
    for (size_t i = 0; i < ranges.size(); ++i) {
      const int64_t size = tensor.size(static_cast<int64_t>(i));
      if (size < ranges[i].min) reject(i, std::to_string(ranges[i].min) + " or more");
      if (size > ranges[i].max) reject(i, std::to_string(ranges[i].max) + " or less");
      const std::string_view symbol = view(as_read[i].symbol);
      if (symbol.empty()) continue;  // fixed size
      const auto [known, is_new] = sizes.try_emplace(symbol, size);
      if (known->second != size) reject(i, std::to_string(known->second) + " as elsewhere");
    }
  }

  std::vector<ProgramInput> inputs_;
  rust::Vec<tokenizers::UserInput>
      user_inputs_;  ///< dimensions with equal symbols have equal sizes
  std::vector<Guard> guards_;
  Dtype linear_;
  std::vector<std::string> warnings_;
  std::vector<std::string> output_names_;
  bool has_named_outputs_ = false;  ///< outputs are a dict instead of a tuple
  std::vector<BoundInput> bound_inputs_;
  SharedMemory shared_;
  Plan plan_;
};

/// Adds the file name unless the message already begins with it.
common::LoadError with_file_name(const std::string& file, const std::string& message) {
  return common::LoadError(message.starts_with(file + ": ") ? message : file + ": " + message);
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

std::unique_ptr<Program> load_exported(const std::string& path, const ComputeOptions& compute) {
  const std::string file = name_of(path);
  const ComputeTypes compute_types = choose_compute_types(compute);
  install_limited_allocator();
  // Constant subgraphs are evaluated now. In addition, weights are read and packed.
  std::error_code no_file;  // reported as a load error later
  const auto size = std::filesystem::file_size(path, no_file);
  constexpr size_t kWeightCopies = 3;
  const RunLimit limit(compute, file, no_file ? 0 : kWeightCopies * size);
  try {
    const c10::InferenceMode inference_mode;
    return std::make_unique<ExportedProgram>(read_program(path), compute_types, compute);
  } catch (const common::LoadError& error) {
    throw with_file_name(file, error.what());
  } catch (...) {
    limit.throw_if_reached();
    throw common::LoadError(file + ": " + message_of_current_exception());
  }
}

ProgramReport inspect_exported(const std::string& path,
                               const std::set<std::string>& allowed_operators) {
  try {
    const ReadProgram read = read_program(path);
    ProgramReport report;
    report.kind = "exported";
    report.made_by = std::string(read.program.made_by);
    for (const tokenizers::UserInput& input : read.program.user_inputs) {
      report.inputs.push_back(described(input_of(input)));
    }
    for (const tokenizers::UserOutput& output : read.program.outputs) {
      report.outputs.emplace_back(output.name);
    }
    WeightCount weights;
    for (const NamedTensors* tensors : {&read.weights, &read.constants}) {
      for (const auto& [name, tensor] : *tensors) weights.add(tensor);
    }
    weights.write_to(report);
    report.operators = list_operators(read.program.graph, allowed_operators);
    return report;
  } catch (const common::LoadError& error) {
    throw with_file_name(name_of(path), error.what());
  }
}

}  // namespace backend
