// Weights as they are stored, laid out in panels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm/aligned.h"
#include "gemm/packed_linear.h"

namespace gemm {

inline int64_t bytes_of(Storage storage) { return storage == Storage::kFloat32 ? 4 : 2; }

struct StoredWeight {
  const void* values;  ///< [outputs, inputs], rows end to end
  Storage storage;
  int64_t outputs, inputs;
};

/// Panels of `width` outputs, each [inputs, width]; the last one filled up with zeros.
AlignedArray<std::byte> pack_panels(const StoredWeight& weight, int64_t width);

}  // namespace gemm
