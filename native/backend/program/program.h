// A model that brings its own operators: what a TorchScript file and an exported one have in
// common.
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

/// The sizes that one dimension of an input may have, both ends included.
struct DimRange {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();

  bool is_fixed() const { return least == most; }
};

/// A tensor that a program takes.
struct ProgramInput {
  std::string name;
  std::optional<c10::ScalarType> type;  ///< nothing: the file does not say
  std::optional<std::vector<DimRange>>
      sizes;  ///< of each dimension; nothing: the file does not say
};

/// Any number of threads may run it at once; no run sees what another one left behind.
class Program {
 public:
  Program() = default;
  virtual ~Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// For people: "torchscript", "exported".
  virtual std::string kind() const = 0;

  /// In the order in which run() takes them; those that may be left out are not among them.
  virtual const std::vector<ProgramInput>& inputs() const = 0;

  /// Once on each thread that runs it.
  virtual void prepare_thread() const = 0;

  /// For the log, a line each: what is slower here than it could be.
  virtual std::vector<std::string> warnings() const { return {}; }

  /// In which numbers its linear layers multiply, those that we multiply.
  virtual Dtype linear() const { return Dtype::kFloat32; }

  /// What the model returns. Under c10::InferenceMode and a RunLimit. Throws what its operators
  /// throw.
  virtual c10::IValue run(std::vector<c10::IValue> inputs) const = 0;
};

/// A model returned something else than one tensor: no input makes it a classifier.
class OutputError : public scheduler::BackendError {
 public:
  using scheduler::BackendError::BackendError;
};

/// The one tensor of a model's output: itself, or alone in a tuple, a list or a dict, nested or
/// not; what is no tensor (None, numbers) does not count. Throws OutputError saying what is there.
at::Tensor single_tensor(const c10::IValue& output);

}  // namespace backend
