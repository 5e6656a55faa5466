#include "wait_estimate.h"

#include <algorithm>

namespace engine {
namespace {

/// To prepare a text costs as much as this many bytes more would.
constexpr size_t kBytesOfOverhead = 64;

/// So many times longer than expected may a run have taken; what is beyond was the machine's doing.
/// One run that lost its core must not have a burst of requests refused; where work has become so
/// much slower, the next runs say so, too.
constexpr double kSurprise = 4;

size_t preparation_work(const Request& request) { return request.bytes + kBytesOfOverhead; }

}  // namespace

WaitEstimate::WaitEstimate(const Options& options, size_t longest_sequence)
    : now_(options.now), longest_sequence_(longest_sequence), running_(options.workers) {}

void WaitEstimate::add_arrived(Lane lane, Request& request) {
  request.expected_cost = expected_cost(request);
  arrived_cost_ += request.expected_cost;
  preparation(lane).work += preparation_work(request);
}

void WaitEstimate::remove_arrived(Lane lane, const Request& request) {
  arrived_cost_ -= request.expected_cost;
  preparation(lane).work -= preparation_work(request);
}

/// The cost is that of the last hundred texts or so. One that was cut says nothing of its length.
void WaitEstimate::learn_preparation(Lane lane, const Request& request) {
  preparation(lane).pace.add(static_cast<double>(preparation_work(request)),
                             request.preparation_time);
  if (request.sequence.truncated) return;
  constexpr double kKept = 0.99;
  tokens_ = tokens_ * kKept + static_cast<double>(request.sequence.cost());
  text_bytes_ = text_bytes_ * kKept + static_cast<double>(request.bytes);
}

void WaitEstimate::begin(size_t worker, size_t cost) {
  running_[worker] = {.cost = cost, .since = now_()};
}

void WaitEstimate::finish(size_t worker, size_t cores) {
  Running& batch = running_[worker];
  const Pace::Duration time = now_() - batch.since;
  if (!batch.given_up) {
    learn_run(batch.cost, time * static_cast<double>(cores));
  }
  batch = {};
}

void WaitEstimate::give_up(size_t worker) { running_[worker].given_up = true; }

void WaitEstimate::learn_run(size_t cost, Pace::Duration time) {
  const auto amount = static_cast<double>(cost);
  const Pace::Duration expected = run_pace_.time_for(amount);
  run_pace_.add(amount, expected.count() > 0 ? std::min(time, kSurprise * expected) : time);
}

Clock::duration WaitEstimate::wait(Lane lane, size_t ready_cost, bool is_empty) const {
  const Preparation& preparation = lane == Lane::kShort ? short_ : long_;
  // Both go on at the same time.
  const auto wait = std::max(run_wait(ready_cost, is_empty),
                             preparation.pace.time_for(static_cast<double>(preparation.work)));
  return std::chrono::duration_cast<Clock::duration>(wait);
}

/// What waits and what is left of what runs, shared by the workers.
Pace::Duration WaitEstimate::run_wait(size_t ready_cost, bool is_empty) const {
  const auto now = now_();
  auto work = run_pace_.time_for(static_cast<double>(arrived_cost_ + ready_cost));
  bool is_worker_free = false;
  size_t workers = 0;
  auto stuck_for = Clock::duration::max();
  for (const Running& batch : running_) {
    if (batch.given_up) {
      stuck_for = std::min(stuck_for, now - batch.since);
      continue;
    }
    ++workers;
    if (batch.cost == 0) {
      is_worker_free = true;
      continue;
    }
    const Pace::Duration left =
        run_pace_.time_for(static_cast<double>(batch.cost)) - (now - batch.since);
    work += std::max(left, Pace::Duration::zero());
  }
  if (is_worker_free && is_empty) return Pace::Duration::zero();
  // As good a guess as any: it takes as long again.
  if (workers == 0) return stuck_for;
  return work / static_cast<double>(workers);
}

size_t WaitEstimate::expected_cost(const Request& request) const {
  constexpr double kSpecialTokens = 2;
  const double tokens = kSpecialTokens + static_cast<double>(request.bytes) * tokens_ / text_bytes_;
  return static_cast<size_t>(std::min(tokens, static_cast<double>(longest_sequence_)));
}

}  // namespace engine
