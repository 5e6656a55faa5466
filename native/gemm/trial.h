// Trying a kernel before it is trusted.
#pragma once

#include <string>

#include "bfloat16_kernel.h"
#include "int8_kernel.h"
#include "kernel.h"
#include "split_kernel.h"

namespace gemm {

/// What a kernel does wrong, on small random numbers that reach all of it; empty: nothing. It is
/// held against the portable one, which differs in the order of sums alone. An illegal instruction
/// is something wrong, too, and ends nothing. Under a millisecond on a processor of today; of split
/// numbers a few.
std::string find_problem(const Kernel& kernel);
std::string find_problem(const Int8Kernel& kernel);
std::string find_problem(const BFloat16Kernel& kernel);
std::string find_problem(const SplitKernel& kernel);

}  // namespace gemm
