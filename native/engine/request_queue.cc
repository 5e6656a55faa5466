#include "request_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace engine {

Status RequestQueue::push(std::unique_ptr<Request>& request, bool ready) {
  std::unique_lock lock(mutex_);
  if (closed_) return Status::kDraining;
  if (requests_ >= options_.max_queue_requests) return Status::kQueueFull;
  // One request is always let in, however large: its size is the HTTP layer's matter.
  if (requests_ > 0 && bytes_ + request->bytes > options_.max_queue_bytes) {
    return Status::kQueueFull;
  }
  Requests accepted;  // of one, made before anything is counted
  accepted.push_back(std::move(request));
  const Request& one = *accepted.front();
  ++requests_;
  bytes_ += one.bytes;
  const Lane lane = one.bytes < options_.long_input_bytes ? Lane::kShort : Lane::kLong;
  if (ready) {
    ready_cost_ += one.sequence.cost();
    ready_.splice(ready_.end(), accepted);
  } else {
    Requests& line = arrived(lane).line;
    line.splice(line.end(), accepted);
  }
  lock.unlock();  // so that the thread that wakes does not find it taken
  (ready ? ready_changed_ : arrived(lane).changed).notify_one();
  return Status::kOk;
}

Taken RequestQueue::take_arrived(Lane lane) {
  std::unique_lock lock(mutex_);
  auto& [line, changed] = arrived(lane);
  changed.wait(lock, [&] { return !line.empty() || closed_; });
  Taken taken;
  move_expired(line, taken.expired);
  if (!line.empty()) {
    taken.batch.splice(taken.batch.end(), line, line.begin());
    ++preparing_;
  }
  taken.closed = closed_ && line.empty() && taken.batch.empty();
  if (drained()) ready_changed_.notify_all();
  return taken;
}

void RequestQueue::push_ready(Requests request) {
  const std::lock_guard lock(mutex_);
  --preparing_;
  const Request& one = *request.front();
  ready_cost_ += one.sequence.cost();
  // Requests of the other lane that came later may have overtaken it.
  auto place = ready_.end();
  while (place != ready_.begin() && one.arrival < (*std::prev(place))->arrival) --place;
  ready_.splice(place, request);
  if (drained()) {
    ready_changed_.notify_all();
  } else {
    ready_changed_.notify_one();
  }
}

void RequestQueue::drop_arrived(const Request& request) {
  const std::lock_guard lock(mutex_);
  --preparing_;
  account_removed(request);
  if (drained()) ready_changed_.notify_all();
}

Taken RequestQueue::take_batch() {
  std::unique_lock lock(mutex_);
  ready_changed_.wait(lock, [this] { return !ready_.empty() || drained(); });
  if (options_.max_queue_delay.count() > 0 && !ready_.empty()) {
    const auto until =
        std::min(ready_.front()->arrival + options_.max_queue_delay, ready_.front()->deadline);
    ready_changed_.wait_until(lock, until, [this] { return batch_is_full() || closed_; });
  }
  Taken taken;
  move_expired(ready_, taken.expired);
  size_t cost = 0;
  while (!ready_.empty() && taken.batch.size() < options_.max_batch_requests) {
    const size_t next = ready_.front()->sequence.cost();
    if (!taken.batch.empty() && cost + next > options_.max_batch_tokens) break;
    cost += next;
    ready_cost_ -= next;
    account_removed(*ready_.front());
    taken.batch.splice(taken.batch.end(), ready_, ready_.begin());
  }
  taken.closed = ready_.empty() && drained();
  if (!ready_.empty()) ready_changed_.notify_one();
  return taken;
}

std::unique_ptr<Request> RequestQueue::remove(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  for (auto* line : {&short_.line, &long_.line, &ready_}) {
    for (auto it = line->begin(); it != line->end(); ++it) {
      if ((*it)->ticket != ticket) continue;
      auto request = std::move(*it);
      line->erase(it);
      if (line == &ready_) ready_cost_ -= request->sequence.cost();
      account_removed(*request);
      return request;
    }
  }
  return nullptr;
}

void RequestQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  short_.changed.notify_all();
  long_.changed.notify_all();
  ready_changed_.notify_all();
}

Requests RequestQueue::close_and_clear() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  Requests waiting;
  for (auto* line : {&short_.line, &long_.line, &ready_}) {
    for (const auto& request : *line) account_removed(*request);
    waiting.splice(waiting.end(), *line);
  }
  ready_cost_ = 0;
  short_.changed.notify_all();
  long_.changed.notify_all();
  ready_changed_.notify_all();
  return waiting;
}

size_t RequestQueue::size() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

size_t RequestQueue::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

bool RequestQueue::batch_is_full() const {
  return ready_.size() >= options_.max_batch_requests || ready_cost_ >= options_.max_batch_tokens;
}

void RequestQueue::account_removed(const Request& request) {
  --requests_;
  bytes_ -= request.bytes;
}

// Each line is in order of arrival, and all requests of a service have the same time limit, so the
// expired ones stand at its head; one with a longer limit before them only delays their answer.
void RequestQueue::move_expired(Requests& line, Requests& expired) {
  const auto now = Clock::now();
  while (!line.empty() && line.front()->deadline <= now) {
    if (&line == &ready_) ready_cost_ -= line.front()->sequence.cost();
    account_removed(*line.front());
    expired.splice(expired.end(), line, line.begin());
  }
}

}  // namespace engine
