// Which of several kernels is used.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "gemm/instructions.h"
#include "trial.h"

namespace gemm {

template <class AnyKernel>
struct Choice {
  const AnyKernel* kernel;
  std::vector<std::string> warnings;  ///< why a better one is not used; a line each
};

/// The first of the candidates whose instructions are usable and that passes its trial; else the
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
