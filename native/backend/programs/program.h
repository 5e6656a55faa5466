// Common interface of TorchScript files and exported programs.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "scheduler/backend.h"

namespace backend {

/// Allowed sizes of a dimension, inclusive.
struct DimRange {
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();

  bool is_fixed() const { return min == max; }
};

/// A tensor input of a program.
struct ProgramInput {
  std::string name;
  std::optional<c10::ScalarType> type;  ///< unset: the file does not specify it
  /// Range of each dimension; unset: the file does not specify them.
  std::optional<std::vector<DimRange>> sizes;
};

/// A loaded program. Runs on several threads at once; a run does not see state of other runs.
class Program {
 public:
  Program() = default;
  virtual ~Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// "torchscript" or "exported".
  virtual std::string kind() const = 0;

  /// Required inputs, in the order of run().
  virtual const std::vector<ProgramInput>& inputs() const = 0;

  /// Call it once on each thread that runs the program.
  virtual void prepare_thread() const = 0;

  /// Performance warnings for the log, one line each.
  virtual std::vector<std::string> warnings() const { return {}; }

  /// Data type of its packed linear layers.
  virtual Dtype linear() const { return Dtype::kFloat32; }

  /// Runs the model under c10::InferenceMode and a RunLimit. Throws the errors of its operators.
  virtual c10::IValue run(std::vector<c10::IValue> inputs) const = 0;
};

/// The model's output is not a single tensor, for any input.
class OutputError : public scheduler::BackendError {
 public:
  using scheduler::BackendError::BackendError;
};

/// The only tensor of an output: itself, or inside a tuple, list or dict, possibly nested. Other
/// values (None, numbers) are ignored. Throws OutputError, which describes the output.
at::Tensor single_tensor(const c10::IValue& output);

}  // namespace backend
