// Weights laid out in panels, once.
#pragma once

#include "format/kernel.h"

namespace kernels {

/// In the type they have: [inputs, panel_width] each.
PackedWeight pack_as_stored(const StoredWeight& weight, const Kernel& kernel);

/// Rounded: [inputs / 2, panel_width, 2] each, inputs filled up with zeros.
PackedWeight pack_bfloat16(const StoredWeight& weight, const Kernel& kernel);

/// [inputs / 4, panel_width, 4] each, filled up in the same way. Sums of products fit into 32 bits
/// up to kMaxInputs (format/int8.h) inputs; see FormatDescription::max_inputs.
PackedWeight pack_int8(const StoredWeight& weight, const Kernel& kernel);

}  // namespace kernels
