// Numbers by which files of torch.export name types. Source: torch/_export/serde/schema.py, 8.20.
#pragma once

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include "exported/field.h"

namespace backend {

/// Each throws LoadError for a number that is unknown, or a type that is not computed with here.
c10::ScalarType scalar_type_of(const Field& number);
c10::MemoryFormat memory_format_of(const Field& number);
c10::Layout layout_of(const Field& number);

}  // namespace backend
