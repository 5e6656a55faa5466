// In which numbers attention multiplies.
#pragma once

#include "backend/backends.h"
#include "gemm/attention.h"

namespace backend {

/// Of a model whose layers multiply in `dtype`: in the same numbers, where that is faster than
/// float32 by enough to be worth it. Measured at the first call for a format, where there are
/// instructions for it at all: a millisecond or two. float32 for int8, which answers the same
/// whatever multiplies its integers.
gemm::AttentionFormat attention_format(Dtype dtype);

}  // namespace backend
