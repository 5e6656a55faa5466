// An accepted request inside the scheduler.
#pragma once

#include <array>
#include <list>

#include "scheduler/model_queue.h"

namespace scheduler {

struct Request {
  uint64_t ticket = 0;
  InputPtr input;            ///< null during and after preparation
  size_t bytes = 0;          ///< size of the input
  size_t count = 1;          ///< see Input::count()
  size_t expected_cost = 0;  ///< estimate of PreparedInput::cost() before preparation
  Clock::time_point arrival;
  Clock::time_point deadline;
  PreparedPtr prepared;  ///< null before preparation
  Clock::duration preparation_time{0};
  /// One element until the completion is delivered. Empty if the watchdog has delivered it.
  Completions completion = Completions(1);
};

/// A list, so that requests move between queues without an allocation, which could fail.
using Requests = std::list<Request>;

/// Class of an input by its size. Each class has its own tokenization threads, so long inputs do
/// not delay short ones.
enum class TokenizationClass { kShort, kLong };
inline constexpr std::array kTokenizationClasses{TokenizationClass::kShort,
                                                 TokenizationClass::kLong};

}  // namespace scheduler
