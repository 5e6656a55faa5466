// How much memory this process takes.
#pragma once

#include <cstddef>

namespace backend {

/// Bytes in memory now; where the system does not tell (it is not Linux), the most there ever were.
/// Microseconds. Any thread.
size_t resident_memory();

}  // namespace backend
