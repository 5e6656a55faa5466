// Which of several kernels is used.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "bfloat16_kernel.h"
#include "gemm/instructions.h"
#include "int8_kernel.h"
#include "kernel.h"
#include "split_kernel.h"

namespace gemm {

/// How the products of a kernel that needs AMX's tiles differ from the portable kernel's; empty:
/// not at all, or it needs none. No machine that this was written on has tiles, so they are held
/// against each other where they are first used. A millisecond or two.
std::string find_problem(const Int8Kernel& kernel);
std::string find_problem(const BFloat16Kernel& kernel);
std::string find_problem(const SplitKernel& kernel);
inline std::string find_problem(const Kernel&) { return ""; }

template <class AnyKernel>
struct Choice {
  const AnyKernel* kernel;
  std::vector<std::string> warnings;  ///< why a better one is not used; a line each
};

/// The first of the candidates whose instructions are usable and whose products are right; else the
/// portable one.
template <class AnyKernel>
Choice<AnyKernel> choose(std::initializer_list<const AnyKernel*> candidates,
                         const AnyKernel& portable, Instructions usable) {
  Choice<AnyKernel> choice{.kernel = &portable, .warnings = {}};
  for (const AnyKernel* const candidate : candidates) {
    if ((candidate->needs & ~usable) != 0) continue;
    const std::string problem = find_problem(*candidate);
    if (problem.empty()) {
      choice.kernel = candidate;
      break;
    }
    choice.warnings.push_back(std::string("the ") + candidate->name +
                              " kernel is not used: " + problem);
  }
  return choice;
}

}  // namespace gemm
