// Filling in the completions of requests. Completions are allocated at admission, so reporting a
// result allocates nothing, not even if memory has run out.
#pragma once

#include <string>

#include "request.h"

namespace scheduler {

/// Fills in the completion of a request, which must not have been delivered.
Completion& set_completion(Request& request, Status status) noexcept;

/// Fills in the completions of all requests and moves them to `completions`.
void complete_all(Requests& requests, Status status, Completions& completions) noexcept;

/// The message of kTimedOut; a shorter one if memory has run out.
std::string timeout_message(std::chrono::milliseconds limit) noexcept;

/// The message of the current exception, of any type.
std::string current_message() noexcept;

}  // namespace scheduler
