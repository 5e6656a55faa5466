#include "completion.h"

#include <exception>
#include <new>

namespace scheduler {

Completion& set_completion(Request& request, Status status) noexcept {
  Completion& completion = request.completion.front();
  completion.ticket = request.ticket;
  completion.status = status;
  completion.count = request.count;
  completion.input = request.prepared;
  completion.preparation_time = request.preparation_time;
  return completion;
}

void complete_all(Requests& requests, Status status, Completions& ended) noexcept {
  for (auto& request : requests) {
    set_completion(request, status);
    ended.splice(ended.end(), request.completion);
  }
}

std::string timeout_message(std::chrono::milliseconds limit) noexcept {
  try {
    return RunTimeout(limit).what();
  } catch (const std::bad_alloc&) {
    return "ran too long";  // stored without an allocation
  }
}

std::string current_message() noexcept {
  constexpr const char* kOutOfMemory = "out of memory";  // stored without an allocation
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
