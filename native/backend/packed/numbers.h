// In which numbers a model multiplies. A table of processors and the settings say so, never a
// clock: replicas on processors of a kind answer the same bits, and so does one that starts anew.
#pragma once

#include <optional>
#include <string>

#include "backend/backends.h"
#include "kernels/format.h"
#include "kernels/cpu.h"

namespace backend {

/// By the table, for a processor that may use these instructions. Of settings without a problem.
Numbers choose_numbers(Dtype dtype, ProductNumbers products, const kernels::Processor& processor);

/// Why a number format is of no use there, in words for users; empty: it is of use.
std::string numbers_problem(Dtype dtype, ProductNumbers products, const kernels::Processor& processor);

/// The same here. Throws LoadError where it is of no use.
Numbers choose_numbers(const ComputeOptions& compute);

/// What multiplies here, for a model that multiplies in such numbers. Without attention: of a
/// program, whose attention, if it has any, is LibTorch's.
Multiplication describe_multiplication(Dtype linear, std::optional<Dtype> attention = {});

}  // namespace backend
