// Inputs of signal programs that have the same value in every run, such as electrode positions.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "programs/program.h"

namespace backend {

/// A constant as argument of a program.
class ConstantArgument {
 public:
  /// `key`: for errors, `eeg_model.json: constant_inputs.pos`. Throws LoadError if the type, shape
  /// or values do not match the input.
  ConstantArgument(const ConstantInput& given, const ProgramInput& input, const std::string& key);

  /// Argument of a run over so many windows: a copy, because programs may write to their inputs.
  at::Tensor of_run(size_t windows) const;

  /// Number of values in the argument for a window.
  size_t values() const { return static_cast<size_t>(tensor_.numel()); }

  /// Windows that the batch dimension of the input accepts; unlimited without a batch dimension.
  const DimRange& windows() const { return windows_; }

 private:
  at::Tensor tensor_;     ///< without the batch dimension
  bool batched_ = false;  ///< whether the program expects a batch dimension
  DimRange windows_;
};

}  // namespace backend
