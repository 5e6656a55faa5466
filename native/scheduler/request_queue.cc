#include "request_queue.h"

#include <algorithm>
#include <iterator>

namespace scheduler {
namespace {

/// Tokens of a batch that are worth sharing among the workers: fewer cost about as much together,
/// because every batch reads all weights.
constexpr size_t kWorthSharing = 256;

}  // namespace

void RequestQueue::Fifo::push_back(Requests& from, Requests::iterator request) {
  next_deadline = std::min(next_deadline, request->deadline);
  requests.splice(requests.end(), from, request);
}

Admission RequestQueue::push(Requests& requests, bool ready, double beside) {
  if (requests.empty()) return {};
  const size_t count = requests.size();
  size_t bytes = 0;
  for (const auto& request : requests) bytes += request.bytes;
  // A list is accepted as a whole or not at all: it waits as long as the slower of its lanes.
  Clock::duration expected{0};
  for (const Lane lane : {Lane::kShort, Lane::kLong}) {
    const bool is_used = std::ranges::any_of(
        requests, [&](const Request& request) { return lane_of(request) == lane; });
    if (is_used) expected = std::max(expected, wait(lane, beside));
  }
  const Admission answer = admission(count, bytes, expected, requests.front().deadline);
  if (answer.status != Status::kOk) return answer;
  requests_ += count;
  bytes_ += bytes;
  while (!requests.empty()) {
    const auto request = requests.begin();
    if (ready) {
      ready_cost_ += request->prepared->cost();
      ready_.push_back(requests, request);
    } else {
      const Lane lane = lane_of(*request);
      estimate_.add_arrived(lane, *request);
      arrived(lane).push_back(requests, request);
    }
  }
  return answer;
}

Admission RequestQueue::admission(Clock::time_point deadline, double beside) const {
  return admission(1, 0, std::min(wait(Lane::kShort, beside), wait(Lane::kLong, beside)), deadline);
}

Admission RequestQueue::admission(size_t requests, size_t bytes, Clock::duration expected,
                                  Clock::time_point deadline) const {
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

Clock::time_point RequestQueue::next_arrival(Lane lane) const {
  const Requests& waiting = (lane == Lane::kShort ? short_ : long_).requests;
  return waiting.empty() ? Clock::time_point::max() : waiting.front().arrival;
}

TakenArrival RequestQueue::take_arrived(Lane lane) {
  Fifo& fifo = arrived(lane);
  TakenArrival taken;
  move_expired(fifo, taken.expired);
  if (!fifo.requests.empty()) {
    preparing_.splice(preparing_.end(), fifo.requests, fifo.requests.begin());
    taken.request = &preparing_.back();
  }
  return taken;
}

/// There are as many as threads that prepare.
Requests::iterator RequestQueue::place_of(const Request& preparing) {
  return std::ranges::find_if(preparing_,
                              [&](const Request& request) { return &request == &preparing; });
}

void RequestQueue::push_ready(Request& request) {
  const Lane lane = lane_of(request);
  estimate_.remove_arrived(lane, request);
  estimate_.learn_preparation(lane, request);
  ready_cost_ += request.prepared->cost();
  ready_.next_deadline = std::min(ready_.next_deadline, request.deadline);
  // Requests of the other lane that came later may have overtaken it.
  auto place = ready_.requests.end();
  while (place != ready_.requests.begin() && std::prev(place)->arrival > request.arrival) --place;
  ready_.requests.splice(place, preparing_, place_of(request));
}

Requests RequestQueue::drop_arrived(Request& request) {
  estimate_.remove_arrived(lane_of(request), request);
  account_removed(request);
  Requests dropped;
  dropped.splice(dropped.end(), preparing_, place_of(request));
  return dropped;
}

Clock::time_point RequestQueue::next_batch() const {
  const Requests& waiting = ready_.requests;
  if (waiting.empty() || !estimate_.has_free_place()) return Clock::time_point::max();
  if (options_.max_queue_delay.count() == 0 || closed_ || batch_is_full()) return {};
  return std::min(waiting.front().arrival + options_.max_queue_delay, ready_.next_deadline);
}

/// What waits is shared evenly among all workers, of which those that run a batch come back; so one
/// does not compute while another has nothing left.
size_t RequestQueue::batch_budget() const {
  const size_t share = (ready_cost_ + options_.workers - 1) / options_.workers;
  return std::min(options_.max_batch_tokens, std::max(share, kWorthSharing));
}

Taken RequestQueue::take_batch() {
  Requests& waiting = ready_.requests;
  Taken taken;
  move_expired(ready_, taken.expired);
  const size_t budget = batch_budget();
  size_t cost = 0;
  while (!waiting.empty() && taken.batch.size() < options_.max_batch_requests) {
    const size_t next = waiting.front().prepared->cost();
    if (!taken.batch.empty() && cost + next > budget) break;
    cost += next;
    ready_cost_ -= next;
    account_removed(waiting.front());
    taken.batch.splice(taken.batch.end(), waiting, waiting.begin());
  }
  if (!taken.batch.empty()) {
    taken.place = estimate_.begin(cost);
    taken.expected = estimate_.run_time(cost);
  }
  return taken;
}

Requests RequestQueue::take_expired() {
  Requests expired;
  for (Fifo* fifo : {&short_, &long_, &ready_}) move_expired(*fifo, expired);
  return expired;
}

Requests RequestQueue::remove(uint64_t ticket) {
  Requests removed;
  const auto preparing = std::ranges::find(preparing_, ticket, &Request::ticket);
  if (preparing != preparing_.end()) preparing->is_cancelled = true;
  for (auto* fifo : {&short_, &long_, &ready_}) {
    const auto found = std::ranges::find(fifo->requests, ticket, &Request::ticket);
    if (found == fifo->requests.end()) continue;
    account_left(*fifo, *found);
    removed.splice(removed.end(), fifo->requests, found);
    break;
  }
  return removed;
}

Requests RequestQueue::close_and_clear() {
  closed_ = true;
  cleared_ = true;
  Requests waiting;
  for (auto* fifo : {&short_, &long_, &ready_}) {
    for (const auto& request : fifo->requests) account_left(*fifo, request);
    waiting.splice(waiting.end(), fifo->requests);
  }
  return waiting;
}

bool RequestQueue::batch_is_full() const {
  return ready_.requests.size() >= options_.max_batch_requests ||
         ready_cost_ >= options_.max_batch_tokens;
}

void RequestQueue::account_removed(const Request& request) {
  --requests_;
  bytes_ -= request.bytes;
}

/// It leaves this queue for good.
void RequestQueue::account_left(const Fifo& fifo, const Request& request) {
  if (&fifo == &ready_) {
    ready_cost_ -= request.prepared->cost();
  } else {
    estimate_.remove_arrived(lane_of(request), request);
  }
  account_removed(request);
}

void RequestQueue::move_expired(Fifo& fifo, Requests& expired) {
  const auto now = options_.now();
  if (now < fifo.next_deadline) return;
  fifo.next_deadline = Clock::time_point::max();
  for (auto it = fifo.requests.begin(); it != fifo.requests.end();) {
    const auto request = it++;
    if (request->deadline > now) {
      fifo.next_deadline = std::min(fifo.next_deadline, request->deadline);
      continue;
    }
    account_left(fifo, *request);
    expired.splice(expired.end(), fifo.requests, request);
  }
}

}  // namespace scheduler
