// Which of a format's kernels is used: by the processor's instructions alone, never by a clock.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "format/kernel.h"

namespace gemm {

/// How the products of a kernel that needs AMX's tiles differ from the portable kernel's, in any of
/// these formats; empty: not at all, or it needs none. No machine that this was written on has
/// tiles, so they are held against each other where they are first used. A millisecond or two.
std::string find_problem(const Kernel& kernel, std::span<const FormatDescription* const> formats);

struct Choice {
  const Kernel* kernel;
  std::vector<std::string> warnings;  ///< why a better one is not used; a line each
};

/// The first of the formats' kernels whose instructions are usable and whose products are right;
/// else the last, the portable one. The formats have the same kernels.
Choice choose(std::span<const FormatDescription* const> formats, Instructions usable);

}  // namespace gemm
