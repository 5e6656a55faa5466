// A tokenization thread of a model.
#pragma once

#include <thread>

#include "request.h"
#include "scheduler/scheduler.h"

namespace scheduler {

struct Scheduler::Tokenizer {
  explicit Tokenizer(TokenizationClass of_inputs) : input_class(of_inputs) {}

  const TokenizationClass input_class;
  std::thread thread;
  bool busy = false;
  Clock::time_point start;     ///< of the preparation, while busy
  Request* request = nullptr;  ///< in preparation; null: the result is discarded
  bool hung = false;           ///< the preparation has exceeded the time limit of runs
  bool ended = false;          ///< the thread returns and can be joined

  bool is_available() const { return !hung && !ended; }
};

}  // namespace scheduler
