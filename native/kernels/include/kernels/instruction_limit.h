// How many of its processor's instructions this process may use: the setting INSTRUCTIONS.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/instructions.h"

namespace kernels {

struct InstructionLimit {
  const char* name;           ///< as users write it
  Instructions instructions;  ///< all that may be used
};

/// Each allows all that the one before it does, and more. The first, "portable", allows what every
/// processor of the kind has, and is the only one there is on others than x86-64.
std::span<const InstructionLimit> instruction_limits();

/// What the environment variable INSTRUCTIONS says, read at the first call; null: it is not set, or
/// is no limit (limit_problem() tells).
const InstructionLimit* chosen_limit();

/// What is wrong with INSTRUCTIONS, in one line for users: it is no limit, or allows what this
/// machine does not have, by which an answer of another machine could not be had. Empty: nothing.
std::string limit_problem();

/// The limits that this machine has all instructions of, whatever INSTRUCTIONS says.
std::vector<std::string> available_limits();

/// The name of the highest limit all of whose instructions are among these.
const char* highest_limit(Instructions usable);

}  // namespace kernels
