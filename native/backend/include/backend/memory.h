// Memory of this process that nothing uses.
#pragma once

namespace backend {

/// Returns to the system what malloc keeps: memory that loading a model has freed, or unloading it,
/// is none that a batch needs again. Some milliseconds. Any thread.
void give_back_free_memory();

}  // namespace backend
