// Threads that hang, and the end of the process in spite of them.
#pragma once

#include <cstddef>
#include <functional>

namespace scheduler {

/// Calls `join` on a new thread and returns immediately. `join` waits for a hung thread and then
/// frees its resources; it may never return. If no thread can be started, the resources are leaked.
///
/// exit() would destroy static objects that a hung thread still uses. Therefore, while one exists,
/// exit() ends the process with its status before static objects are destroyed.
void join_in_background(std::function<void()> join);

/// Number of calls of join_in_background() whose thread still hangs.
size_t abandoned_threads();

}  // namespace scheduler
