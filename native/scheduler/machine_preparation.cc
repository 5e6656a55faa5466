// The threads that prepare inputs.
#include <utility>

#include "ending.h"
#include "scheduler/engine.h"
#include "scheduler/machine.h"
#include "request_queue.h"
#include "worker.h"

namespace scheduler {

/// One thread of one engine.
void Machine::prepare_inputs(Engine& engine, Lane lane) {
  Lock lock(mutex_);
  while (!engine.leaves_) {
    if (engine.queue_->next_arrival(lane) == Clock::time_point::max()) {
      engine.arrived_changed(lane).wait(lock);
    } else {
      prepare_next(engine, lane, lock);
    }
  }
}

void Machine::prepare_next(Engine& engine, Lane lane, Lock& lock) {
  TakenArrival taken = engine.queue_->take_arrived(lane);
  ++engine.busy_;
  lock.unlock();
  engine.end_as(Status::kDeadlineExceeded, taken.expired);
  Request* const request = taken.request;
  const bool is_prepared = request != nullptr && engine.prepare(*request);
  lock.lock();
  if (request != nullptr) {
    RequestQueue& queue = *engine.queue_;
    if (is_prepared && !queue.is_cleared() && !request->is_cancelled) {
      queue.push_ready(*request);
      wake_next();
    } else {
      if (is_prepared) end(*request, Status::kDraining);
      if (request->is_cancelled) {
        request->ending.front() = {};  // whatever its preparation came to
        end(*request, Status::kCancelled);
      }
      Requests dropped = queue.drop_arrived(*request);
      lock.unlock();
      engine.complete(std::move(dropped.front().ending));
      dropped.clear();
      lock.lock();
    }
  }
  engine.leave();
}

}  // namespace scheduler
