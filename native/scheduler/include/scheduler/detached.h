// What may never end, and how the process ends nevertheless.
#pragma once

#include <cstddef>
#include <functional>

namespace scheduler {

/// Waits, on a thread of its own, for something that may never end; the caller goes on. Where there
/// is no thread to be had, or no memory, what `wait_for_end` holds stays for ever.
///
/// exit() destroys static objects, which detached threads would still use. So while one
/// is, exit() ends the process before it comes to that, with the status it was given.
void await_detached(std::function<void()> wait_for_end);

/// Those that have not ended.
size_t detached_threads();

}  // namespace scheduler
