// What a program takes and gives, and where its weights go.
#pragma once

#include <string>
#include <vector>

#include "exported/graph.h"
#include "program/program.h"

namespace backend {

/// Of the outermost graph.
struct GraphInput {
  enum class Kind { kTensor, kConstant, kUser };
  Kind kind;
  std::string tensor;  ///< of a weight, a buffer or a constant: its name in the file
  Argument constant;
};

/// A tensor that a program takes, and of each of its dimensions the name of the size: where names
/// are equal, sizes are. Empty: the size is fixed.
struct UserInput {
  ProgramInput input;
  std::vector<std::string> symbols;
};

/// One of the outermost graph's outputs. `name`: "logits", "1.0"; empty: it is the only one.
struct UserOutput {
  size_t index;
  std::string name;
};

struct Signature {
  std::vector<GraphInput> inputs;
  std::vector<UserInput> user_inputs;
  std::vector<UserOutput> outputs;
};

Signature signature_of(const hf::ExportedProgram& read);

}  // namespace backend
