#include "request_queue.h"

#include <algorithm>
#include <iterator>

namespace engine {
namespace {

size_t bytes_of(const Requests& requests) {
  size_t bytes = 0;
  for (const auto& request : requests) bytes += request.bytes;
  return bytes;
}

}  // namespace

void RequestQueue::Line::push_back(Requests& from, Requests::iterator request) {
  next_deadline = std::min(next_deadline, request->deadline);
  requests.splice(requests.end(), from, request);
}

Admission RequestQueue::push(Requests& requests, bool ready) {
  std::unique_lock lock(mutex_);
  const Request& first = requests.front();
  const size_t count = requests.size();
  const size_t bytes = bytes_of(requests);
  const Admission admission = admit(count, bytes, lane_of(first), first.deadline);
  if (admission.status != Status::kOk) return admission;
  requests_ += count;
  bytes_ += bytes;
  while (!requests.empty()) {
    const auto request = requests.begin();
    if (ready) {
      ready_cost_ += request->sequence.cost();
      ready_.push_back(requests, request);
    } else {
      const Lane lane = lane_of(*request);
      estimate_.add_arrived(lane, *request);
      arrived(lane).line.push_back(requests, request);
    }
  }
  const bool has_long = !long_.line.requests.empty();
  lock.unlock();  // so that the thread that wakes does not find it taken
  if (!ready) {
    short_.changed.notify_one();
    if (has_long) long_.changed.notify_one();
  } else if (count > 1) {
    ready_changed_.notify_all();
  } else {
    ready_changed_.notify_one();
  }
  return admission;
}

Admission RequestQueue::admission(Clock::time_point deadline) const {
  const std::lock_guard lock(mutex_);
  return admit(1, 0, Lane::kShort, deadline);
}

Admission RequestQueue::admit(size_t requests, size_t bytes, Lane lane,
                              Clock::time_point deadline) const {
  const Clock::duration expected = wait(lane);
  const auto answer = [&](Status status) { return Admission{.status = status, .wait = expected}; };
  if (closed_) return answer(Status::kDraining);
  if (requests_ + requests > options_.max_queue_requests) return answer(Status::kQueueFull);
  // One request is always let in, however large: its size is the HTTP layer's matter.
  if (requests_ + requests > 1 && bytes_ + bytes > options_.max_queue_bytes) {
    return answer(Status::kQueueFull);
  }
  if (expected > options_.max_queue_wait) return answer(Status::kWaitTooLong);
  // What could not begin in time anyway is better told now.
  if (expected.count() > 0 && options_.now() + expected > deadline) {
    return answer(Status::kDeadlineTooClose);
  }
  return answer(Status::kOk);
}

Taken RequestQueue::take_arrived(Lane lane) {
  std::unique_lock lock(mutex_);
  auto& [line, changed] = arrived(lane);
  Requests& waiting = line.requests;
  changed.wait(lock, [&] { return !waiting.empty() || closed_; });
  Taken taken;
  move_expired(line, taken.expired);
  if (!waiting.empty()) {
    taken.batch.splice(taken.batch.end(), waiting, waiting.begin());
    ++preparing_;
  }
  taken.closed = closed_ && waiting.empty() && taken.batch.empty();
  if (drained()) ready_changed_.notify_all();
  return taken;
}

bool RequestQueue::push_ready(Requests& request) {
  const std::lock_guard lock(mutex_);
  const Request& prepared = request.front();
  if (cleared_) {
    forget_arrived(prepared);
    return false;
  }
  --preparing_;
  estimate_.remove_arrived(lane_of(prepared), prepared);
  estimate_.learn_preparation(lane_of(prepared), prepared);
  ready_cost_ += prepared.sequence.cost();
  ready_.next_deadline = std::min(ready_.next_deadline, prepared.deadline);
  // Requests of the other lane that came later may have overtaken it.
  auto place = ready_.requests.end();
  while (place != ready_.requests.begin() && std::prev(place)->arrival > prepared.arrival) --place;
  ready_.requests.splice(place, request);
  if (drained()) {
    ready_changed_.notify_all();
  } else {
    ready_changed_.notify_one();
  }
  return true;
}

void RequestQueue::drop_arrived(const Request& request) {
  const std::lock_guard lock(mutex_);
  forget_arrived(request);
}

void RequestQueue::forget_arrived(const Request& request) {
  --preparing_;
  estimate_.remove_arrived(lane_of(request), request);
  account_removed(request);
  if (drained()) ready_changed_.notify_all();
}

Taken RequestQueue::take_batch(size_t worker) {
  std::unique_lock lock(mutex_);
  Requests& waiting = ready_.requests;
  ready_changed_.wait(lock, [&] { return !waiting.empty() || drained(); });
  if (options_.max_queue_delay.count() > 0 && !waiting.empty()) {
    const auto until =
        std::min(waiting.front().arrival + options_.max_queue_delay, ready_.next_deadline);
    ready_changed_.wait_until(lock, until, [this] { return batch_is_full() || closed_; });
  }
  Taken taken;
  move_expired(ready_, taken.expired);
  size_t cost = 0;
  while (!waiting.empty() && taken.batch.size() < options_.max_batch_requests) {
    const size_t next = waiting.front().sequence.cost();
    if (!taken.batch.empty() && cost + next > options_.max_batch_tokens) break;
    cost += next;
    ready_cost_ -= next;
    account_removed(waiting.front());
    taken.batch.splice(taken.batch.end(), waiting, waiting.begin());
  }
  estimate_.begin(worker, cost);
  taken.closed = waiting.empty() && drained();
  if (!waiting.empty()) ready_changed_.notify_one();
  return taken;
}

void RequestQueue::finished(size_t worker, size_t cores) {
  const std::lock_guard lock(mutex_);
  estimate_.finish(worker, cores);
}

void RequestQueue::give_up(size_t worker) {
  const std::lock_guard lock(mutex_);
  estimate_.give_up(worker);
}

Requests RequestQueue::take_expired() {
  const std::lock_guard lock(mutex_);
  Requests expired;
  for (Line* line : {&short_.line, &long_.line, &ready_}) move_expired(*line, expired);
  if (drained()) ready_changed_.notify_all();
  return expired;
}

void RequestQueue::learn_pace(size_t cost, Clock::duration time) {
  const std::lock_guard lock(mutex_);
  estimate_.learn_run(cost, time);
}

Requests RequestQueue::remove(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  Requests removed;
  for (auto* line : {&short_.line, &long_.line, &ready_}) {
    const auto found = std::ranges::find(line->requests, ticket, &Request::ticket);
    if (found == line->requests.end()) continue;
    account_left(*line, *found);
    removed.splice(removed.end(), line->requests, found);
    break;
  }
  return removed;
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
  cleared_ = true;
  Requests waiting;
  for (auto* line : {&short_.line, &long_.line, &ready_}) {
    for (const auto& request : line->requests) account_left(*line, request);
    waiting.splice(waiting.end(), line->requests);
  }
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

Clock::duration RequestQueue::wait() const {
  const std::lock_guard lock(mutex_);
  return wait(Lane::kShort);
}

bool RequestQueue::batch_is_full() const {
  return ready_.requests.size() >= options_.max_batch_requests ||
         ready_cost_ >= options_.max_batch_tokens;
}

void RequestQueue::account_removed(const Request& request) {
  --requests_;
  bytes_ -= request.bytes;
}

/// It leaves this line for good.
void RequestQueue::account_left(const Line& line, const Request& request) {
  if (&line == &ready_) {
    ready_cost_ -= request.sequence.cost();
  } else {
    estimate_.remove_arrived(lane_of(request), request);
  }
  account_removed(request);
}

void RequestQueue::move_expired(Line& line, Requests& expired) {
  const auto now = options_.now();
  if (now < line.next_deadline) return;
  line.next_deadline = Clock::time_point::max();
  for (auto it = line.requests.begin(); it != line.requests.end();) {
    const auto request = it++;
    if (request->deadline > now) {
      line.next_deadline = std::min(line.next_deadline, request->deadline);
      continue;
    }
    account_left(line, *request);
    expired.splice(expired.end(), line.requests, request);
  }
}

}  // namespace engine
