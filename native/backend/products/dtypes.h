// Kernels for number formats.
#pragma once

#include <string>
#include <vector>

#include "backend/backends.h"

namespace backend {

/// Why this processor has nothing fast for a number format; empty: it has.
std::string missing_kernel(Dtype dtype);

/// Throws LoadError saying the same.
void require_kernel(Dtype dtype);

/// Why a faster kernel is not used for a model of this number format, a line each.
std::vector<std::string> kernel_warnings(Dtype dtype);

}  // namespace backend
