// The numbers by which files of torch.export name types.
// Source: torch/_export/serde/schema.py, 8.20.
#pragma once

#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace backend {

/// Each of a number that was read: it is known.
c10::ScalarType scalar_type_of(int64_t number);
c10::MemoryFormat memory_format_of(int64_t number);

}  // namespace backend
