#include "request_queue.h"

#include <algorithm>
#include <iterator>

namespace scheduler {
namespace {

/// Minimum number of tokens in a batch before the queue is split among workers. Smaller batches
/// take about the same time, because every batch reads all weights.
constexpr size_t kMinSplitTokens = 256;

}  // namespace

void RequestQueue::Fifo::push_back(Requests& from, Requests::iterator request) {
  next_deadline = std::min(next_deadline, request->deadline);
  requests.splice(requests.end(), from, request);
}

Admission RequestQueue::push(Requests& requests, bool ready, double competing_seconds) {
  if (requests.empty()) return {};
  size_t count = 0, bytes = 0;
  for (const auto& request : requests) {
    count += request.count;
    bytes += request.bytes;
  }
  // The list is accepted or rejected as a whole, so the slower class counts.
  Clock::duration expected{0};
  for (const TokenizationClass input_class : kTokenizationClasses) {
    const bool is_used = std::ranges::any_of(
        requests, [&](const Request& request) { return class_of(request) == input_class; });
    if (is_used) expected = std::max(expected, wait(input_class, competing_seconds));
  }
  const Admission decision = admission(count, bytes, expected, requests.front().deadline);
  if (decision.status != Status::kOk) return decision;
  count_ += count;
  bytes_ += bytes;
  while (!requests.empty()) {
    const auto request = requests.begin();
    if (ready) {
      account_ready(*request);
      ready_.push_back(requests, request);
    } else {
      const TokenizationClass input_class = class_of(*request);
      estimate_.add_arrived(input_class, *request);
      arrived(input_class).push_back(requests, request);
    }
  }
  return decision;
}

Admission RequestQueue::admission(Clock::time_point deadline, double competing_seconds) const {
  return admission(1, 0,
                   std::min(wait(TokenizationClass::kShort, competing_seconds),
                            wait(TokenizationClass::kLong, competing_seconds)),
                   deadline);
}

Admission RequestQueue::admission(size_t count, size_t bytes, Clock::duration expected,
                                  Clock::time_point deadline) const {
  const auto decision = [&](Status status) {
    return Admission{.status = status, .wait = expected};
  };
  if (closed_) return decision(Status::kDraining);
  if (count_ + count > options_.max_queue_requests) return decision(Status::kQueueFull);
  // A single input is accepted at any size: the HTTP layer limits it.
  if (count_ + count > 1 && bytes_ + bytes > options_.max_queue_bytes) {
    return decision(Status::kQueueFull);
  }
  if (expected > options_.max_queue_wait) return decision(Status::kWaitTooLong);
  // A request that cannot start before its deadline is rejected early.
  if (expected.count() > 0 && options_.now() + expected > deadline) {
    return decision(Status::kDeadlineTooClose);
  }
  return decision(Status::kOk);
}

Clock::time_point RequestQueue::next_arrival(TokenizationClass input_class) const {
  const Requests& waiting = (input_class == TokenizationClass::kShort ? short_ : long_).requests;
  return waiting.empty() ? Clock::time_point::max() : waiting.front().arrival;
}

DequeuedArrival RequestQueue::dequeue_arrival(TokenizationClass input_class) {
  Fifo& fifo = arrived(input_class);
  DequeuedArrival taken;
  move_expired(fifo, taken.expired);
  if (!fifo.requests.empty()) {
    preparing_.splice(preparing_.end(), fifo.requests, fifo.requests.begin());
    taken.request = &preparing_.back();
  }
  return taken;
}

/// Position of a request in preparation. The list is as short as the number of tokenization
/// threads.
Requests::iterator RequestQueue::find_preparing(const Request& preparing) {
  return std::ranges::find_if(preparing_,
                              [&](const Request& request) { return &request == &preparing; });
}

void RequestQueue::push_ready(Request& request) {
  const TokenizationClass input_class = class_of(request);
  estimate_.remove_arrived(input_class, request);
  estimate_.learn_preparation(input_class, request);
  account_ready(request);
  ready_.next_deadline = std::min(ready_.next_deadline, request.deadline);
  // Later requests of the other class may already be in the list.
  auto position = ready_.requests.end();
  while (position != ready_.requests.begin() && std::prev(position)->arrival > request.arrival)
    --position;
  ready_.requests.splice(position, preparing_, find_preparing(request));
}

Requests RequestQueue::drop_arrived(Request& request) {
  estimate_.remove_arrived(class_of(request), request);
  account_removed(request);
  Requests dropped;
  dropped.splice(dropped.end(), preparing_, find_preparing(request));
  return dropped;
}

Clock::time_point RequestQueue::next_batch() const {
  const Requests& waiting = ready_.requests;
  if (waiting.empty() || !estimate_.has_free_slot()) return Clock::time_point::max();
  if (options_.max_queue_delay.count() == 0 || closed_ || batch_is_full()) return {};
  return std::min(waiting.front().arrival + options_.max_queue_delay, ready_.next_deadline);
}

/// Maximum cost of the next batch. The ready requests are split evenly among all workers, busy ones
/// included, so that no worker idles while another computes.
size_t RequestQueue::batch_budget() const {
  const size_t share = (ready_cost_ + options_.workers - 1) / options_.workers;
  return std::min(options_.max_batch_tokens, std::max(share, kMinSplitTokens));
}

DequeuedBatch RequestQueue::dequeue_batch() {
  Requests& waiting = ready_.requests;
  DequeuedBatch taken;
  move_expired(ready_, taken.expired);
  const size_t budget = batch_budget();
  size_t cost = 0, count = 0;
  while (!waiting.empty()) {
    const Request& next = waiting.front();
    const size_t next_cost = next.prepared->cost();
    const bool fits =
        cost + next_cost <= budget && count + next.count <= options_.max_batch_requests;
    if (!taken.batch.empty() && !fits) break;
    cost += next_cost;
    count += next.count;
    account_unready(next);
    account_removed(next);
    taken.batch.splice(taken.batch.end(), waiting, waiting.begin());
  }
  if (!taken.batch.empty()) {
    taken.slot = estimate_.begin(cost);
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
  if (preparing != preparing_.end()) return drop_arrived(*preparing);
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
  Requests waiting;
  while (!preparing_.empty()) waiting.splice(waiting.end(), drop_arrived(preparing_.front()));
  for (auto* fifo : {&short_, &long_, &ready_}) {
    for (const auto& request : fifo->requests) account_left(*fifo, request);
    waiting.splice(waiting.end(), fifo->requests);
  }
  return waiting;
}

bool RequestQueue::batch_is_full() const {
  return ready_count_ >= options_.max_batch_requests || ready_cost_ >= options_.max_batch_tokens;
}

void RequestQueue::account_ready(const Request& request) {
  ready_count_ += request.count;
  ready_cost_ += request.prepared->cost();
}

void RequestQueue::account_unready(const Request& request) {
  ready_count_ -= request.count;
  ready_cost_ -= request.prepared->cost();
}

void RequestQueue::account_removed(const Request& request) {
  count_ -= request.count;
  bytes_ -= request.bytes;
}

/// Updates the totals for a request that leaves the queue unprocessed.
void RequestQueue::account_left(const Fifo& fifo, const Request& request) {
  if (&fifo == &ready_) {
    account_unready(request);
  } else {
    estimate_.remove_arrived(class_of(request), request);
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
