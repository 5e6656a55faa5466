#include "wait_estimate.h"

#include <algorithm>
#include <utility>

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

bool WaitEstimate::has_free_place() const {
  return std::ranges::find(running_, size_t{0}, &Running::cost) != running_.end();
}

size_t WaitEstimate::begin(size_t cost) {
  const auto place = std::ranges::find(running_, size_t{0}, &Running::cost);
  const auto now = now_();
  *place = {.cost = cost, .since = now, .changed = now};
  return static_cast<size_t>(place - running_.begin());
}

void WaitEstimate::set_cores(size_t place, size_t cores) {
  Running& batch = running_[place];
  const auto now = now_();
  batch.before = batch.time_until(now);
  batch.changed = now;
  batch.cores = cores;
}

double WaitEstimate::finish(size_t place, bool is_typical) {
  const Running batch = std::exchange(running_[place], {});
  const Pace::Duration time = batch.time_until(now_());
  if (is_typical) learn_run(batch.cost, time);
  return time.count();
}

void WaitEstimate::learn_run(size_t cost, Pace::Duration time) {
  const auto amount = static_cast<double>(cost);
  const Pace::Duration expected = run_pace_.time_for(amount);
  run_pace_.add(amount, expected.count() > 0 ? std::min(time, kSurprise * expected) : time);
}

Clock::duration WaitEstimate::wait(Lane lane, const Waiting& waiting, double beside) const {
  const Preparation& preparation = lane == Lane::kShort ? short_ : long_;
  // Both go on at the same time.
  const auto wait = std::max(run_wait(waiting, beside),
                             preparation.pace.time_for(static_cast<double>(preparation.work)));
  return std::chrono::duration_cast<Clock::duration>(wait);
}

double WaitEstimate::work(size_t ready_cost) const {
  auto work = run_pace_.time_for(static_cast<double>(arrived_cost_ + ready_cost));
  for (const Running& batch : running_) {
    if (batch.given_up || batch.cost == 0) continue;
    const Pace::Duration left =
        run_pace_.time_for(static_cast<double>(batch.cost)) - batch.time_until(now_());
    work += std::max(left, Pace::Duration::zero());
  }
  return work.count();
}

/// Shared by the workers that come back.
Pace::Duration WaitEstimate::run_wait(const Waiting& waiting, double beside) const {
  if (waiting.is_empty && has_free_place()) return Pace::Duration::zero();
  size_t workers = 0;
  auto stuck_for = Clock::duration::max();
  for (const Running& batch : running_) {
    if (batch.given_up) {
      stuck_for = std::min(stuck_for, now_() - batch.since);
    } else {
      ++workers;
    }
  }
  // As good a guess as any: it takes as long again.
  if (workers == 0) return stuck_for;
  return Pace::Duration((work(waiting.ready_cost) + beside) / static_cast<double>(workers));
}

size_t WaitEstimate::expected_cost(const Request& request) const {
  constexpr double kSpecialTokens = 2;
  const double tokens = kSpecialTokens + static_cast<double>(request.bytes) * tokens_ / text_bytes_;
  return static_cast<size_t>(std::min(tokens, static_cast<double>(longest_sequence_)));
}

}  // namespace engine
