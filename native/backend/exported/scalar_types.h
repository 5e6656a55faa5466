// What files of torch.export say of a tensor: numbers by which they name types, and dimensions.
// Source: torch/_export/serde/schema.py, 8.20.
#pragma once

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include "exported/field.h"

namespace backend {

/// How many dimensions a list of sizes or strides has. Throws LoadError for more than LibTorch's
/// loops take.
size_t rank_of(const Field& sizes);

/// Each throws LoadError for a number that is unknown, or a type that is not computed with here.
c10::ScalarType scalar_type_of(const Field& number);
c10::MemoryFormat memory_format_of(const Field& number);
c10::Layout layout_of(const Field& number);

}  // namespace backend
