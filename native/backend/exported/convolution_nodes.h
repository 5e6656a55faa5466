// Convolutions of a plan, on packed products.
#pragma once

#include "exported/plan.h"

namespace backend {

/// Puts packed convolutions (products/packed_convolution.h), and with each the relu() that alone
/// reads it, in the place of those over one dimension whose filters are constant.
void pack_convolutions(Plan& plan);

}  // namespace backend
