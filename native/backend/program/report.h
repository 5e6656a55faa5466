// What a program's file says, for people.
#pragma once

#include <ATen/core/Tensor.h>

#include <set>
#include <string>

#include "backend/inspect.h"
#include "program/program.h"

namespace backend {

/// Type and sizes in words: "float32", "[1 to 64, 1, 256]"; empty where the file does not say.
ValueReport described(const ProgramInput& input);

/// Counts a tensor; those that share its memory count once.
class WeightCount {
 public:
  void add(const at::Tensor& tensor);
  void write_to(ProgramReport& report) const;

 private:
  std::set<const void*> seen_;
  uint64_t numbers_ = 0;
  uint64_t bytes_ = 0;
  std::set<std::string> types_;
};

}  // namespace backend
