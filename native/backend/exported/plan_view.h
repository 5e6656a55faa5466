// Rewriting of a plan.
#pragma once

#include "exported/plan.h"
#include "products/packed_layer.h"

namespace backend {

/// See program/rewrite. Of one plan, without those inside it. What is computed for it is added to
/// the shared memory.
void rewrite_plan(Plan& plan, PackedLayers& layers, SharedMemory& shared);

}  // namespace backend
