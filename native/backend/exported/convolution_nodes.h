// Convolutions of a plan, on packed products.
#pragma once

#include "exported/plan.h"

namespace backend {

/// Makes a packed convolution (products/packed_convolution.h) of a step, with relu() behind it
/// where it is `rectified`. False: it is no convolution over one dimension with constant filters,
/// and stays as it is.
bool pack_convolution(Step& step, bool rectified);

}  // namespace backend
