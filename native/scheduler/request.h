// What an accepted request is to the engine.
#pragma once

#include <list>

#include "scheduler/engine.h"

namespace scheduler {

/// One accepted request on its way through the queue.
struct Request {
  uint64_t ticket = 0;
  InputPtr input;          ///< null once it is prepared
  size_t bytes = 0;          ///< of the input, for the queue's bound
  size_t expected_cost = 0;  ///< until it is prepared; see PreparedInput::cost()
  Clock::time_point arrival;
  Clock::time_point deadline;
  PreparedPtr prepared;  ///< null until it is prepared
  Clock::duration preparation_time{0};
  bool is_cancelled = false;  ///< while it was prepared; behind the machine's lock
  /// How it ends: one element, until that is handed on. A request that was given up has none.
  Completions ending = Completions(1);
};

/// A list, so that a request moves from line to line without an allocation, which could fail.
using Requests = std::list<Request>;

/// Inputs are prepared in two lines: what takes a long time does not hold up what does not.
enum class Lane { kShort, kLong };

}  // namespace scheduler
