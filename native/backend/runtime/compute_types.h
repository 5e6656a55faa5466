// Selection of compute data types: by a table of processors and by settings, never by a
// measurement. Replicas on equal processors have bitwise identical results.
#pragma once

#include <optional>
#include <string>

#include "backend/backends.h"
#include "kernels/cpu.h"
#include "kernels/format.h"

namespace backend {

/// Data types for a processor, by the table. Requires settings without a problem.
ComputeTypes choose_compute_types(Dtype dtype, AttentionPrecision precision,
                                  const kernels::Processor& processor);

/// Reason why the settings are not useful on this processor, for users; empty: they are useful.
std::string compute_types_problem(Dtype dtype, AttentionPrecision precision,
                                  const kernels::Processor& processor);

/// Data types for this processor. Throws LoadError if the settings cannot be used.
ComputeTypes choose_compute_types(const ComputeOptions& compute);

/// Names the kernels for these data types. attention: empty for programs, whose attention is
/// LibTorch's.
KernelsInUse describe_kernels(Dtype linear, std::optional<Dtype> attention = {});

}  // namespace backend
