// Packing of weights into panels.
#pragma once

#include "matmul/kernel.h"

namespace kernels {

/// Panels of [inputs, nr] in the stored type.
PackedWeight pack_b_as_stored(const StoredWeight& weight, const Kernel& kernel);

/// Rounded panels of [inputs / 2, nr, 2], zero-padded.
PackedWeight pack_b_bfloat16(const StoredWeight& weight, const Kernel& kernel);

/// Quantized panels of [inputs / 4, nr, 4], zero-padded. Sums of products fit into 32 bits for up
/// to Int8Range::max_inputs() inputs (matmul/int8.h).
PackedWeight pack_b_int8(const StoredWeight& weight, const Kernel& kernel);
PackedWeight pack_b_int8_vnni(const StoredWeight& weight, const Kernel& kernel);

}  // namespace kernels
