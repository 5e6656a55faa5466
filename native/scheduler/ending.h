// How requests end: written down in memory that they were accepted with, so that whatever has eaten
// the rest, each is told.
#pragma once

#include <string>

#include "request.h"

namespace scheduler {

/// Writes down how a request ended. Its ending must not have been handed on.
Completion& end(Request& request, Status status) noexcept;

/// Ends each in the same way, and adds its ending to those that have ended.
void end_all(Requests& requests, Status status, Completions& ended) noexcept;

/// The message for kTimedOut; a shorter one where there is no memory for it.
std::string timeout_message(std::chrono::milliseconds limit) noexcept;

/// The message of the exception being handled. The wall that keeps every error inside its request.
std::string current_message() noexcept;

}  // namespace scheduler
