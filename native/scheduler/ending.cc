#include "ending.h"

#include <exception>
#include <new>

namespace scheduler {

Completion& end(Request& request, Status status) noexcept {
  Completion& completion = request.ending.front();
  completion.ticket = request.ticket;
  completion.status = status;
  completion.input = request.prepared;
  completion.preparation_time = request.preparation_time;
  return completion;
}

void end_all(Requests& requests, Status status, Completions& ended) noexcept {
  for (auto& request : requests) {
    end(request, status);
    ended.splice(ended.end(), request.ending);
  }
}

std::string timeout_message(std::chrono::milliseconds limit) noexcept {
  try {
    return RunTimeout(limit).what();
  } catch (const std::bad_alloc&) {
    return "ran too long";  // short enough to need no memory
  }
}

std::string current_message() noexcept {
  constexpr const char* kOutOfMemory = "out of memory";  // short enough to need none
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception& error) {
    try {
      return error.what();
    } catch (const std::bad_alloc&) {
      return kOutOfMemory;
    }
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace scheduler
