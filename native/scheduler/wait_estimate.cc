#include "wait_estimate.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace scheduler {
namespace {

/// To prepare a text costs as much as this many bytes more would.
constexpr size_t kBytesOfOverhead = 64;

/// So many times longer than expected may a run have taken; what is beyond was the machine's doing.
/// One run that lost its core must not have a burst of requests refused; where work has become so
/// much slower, the next runs say so, too.
constexpr double kSurprise = 4;

size_t preparation_work(const Request& request) { return request.bytes + kBytesOfOverhead; }

}  // namespace

void RunTimes::add(double cost, Pace::Duration time) {
  const auto size = static_cast<uint64_t>(std::ceil(std::max(cost, 1.0)));
  Size& of_size = sizes_.at(static_cast<size_t>(std::bit_width(size - 1)));
  const double kept = std::exp(-time.count());
  of_size.batches = of_size.batches * kept + 1;
  of_size.cost = of_size.cost * kept + cost;
  of_size.time = of_size.time * kept + time;
}

Pace::Duration RunTimes::of(double cost) const {
  const Size* smaller = nullptr;  // the nearest one,
  const Size* before = nullptr;   // and the one before it
  const Size* larger = nullptr;
  for (const Size& size : sizes_) {
    if (size.batches == 0) continue;
    if (size.mean_cost() > cost) {
      larger = &size;
      break;
    }
    before = std::exchange(smaller, &size);
  }
  const auto along = [cost](double from_cost, Pace::Duration from, double to_cost,
                            Pace::Duration to) {
    return from + (to - from) * ((cost - from_cost) / (to_cost - from_cost));
  };
  if (larger != nullptr) {
    // Nothing takes no time: the line begins there where no smaller size was measured.
    return smaller != nullptr
               ? along(smaller->mean_cost(), smaller->mean_time(), larger->mean_cost(),
                       larger->mean_time())
               : along(0, Pace::Duration(0), larger->mean_cost(), larger->mean_time());
  }
  if (smaller == nullptr) return Pace::Duration(0);
  const Pace::Duration least = smaller->mean_time();
  if (before == nullptr) return least;
  const auto most = along(0, Pace::Duration(0), smaller->mean_cost(), least);
  return std::clamp(along(before->mean_cost(), before->mean_time(), smaller->mean_cost(), least),
                    least, std::max(least, most));
}

WaitEstimate::WaitEstimate(const Options& options, size_t longest_sequence)
    : now_(options.now),
      longest_sequence_(longest_sequence),
      max_batch_tokens_(options.max_batch_tokens),
      max_batch_requests_(options.max_batch_requests),
      running_(options.workers) {}

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
  if (request.prepared->is_truncated()) return;
  constexpr double kKept = 0.99;
  tokens_ = tokens_ * kKept + static_cast<double>(request.prepared->cost());
  text_bytes_ = text_bytes_ * kKept + static_cast<double>(request.bytes);
}

Pace::Duration RunTimes::at_most(double cost) const {
  const auto largest = std::find_if(sizes_.rbegin(), sizes_.rend(),
                                    [](const Size& size) { return size.batches > 0; });
  if (largest == sizes_.rend()) return Pace::Duration(0);
  return std::max(of(cost), largest->mean_time() * (cost / largest->mean_cost()));
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
  const Pace::Duration expected = run_times_.at_most(amount);
  run_times_.add(amount, expected.count() > 0 ? std::min(time, kSurprise * expected) : time);
}

Clock::duration WaitEstimate::wait(Lane lane, const Waiting& waiting, double beside) const {
  const Preparation& preparation = lane == Lane::kShort ? short_ : long_;
  // Both go on at the same time.
  const auto wait = std::max(run_wait(waiting, beside),
                             preparation.pace.time_for(static_cast<double>(preparation.work)));
  return std::chrono::round<Clock::duration>(wait);
}

/// In batches that are as full as they may be.
Pace::Duration WaitEstimate::time_of_batches(const Waiting& waiting) const {
  const size_t cost = arrived_cost_ + waiting.ready_cost;
  if (cost == 0) return Pace::Duration(0);
  const auto ceil_divide = [](size_t a, size_t b) { return a / b + (a % b != 0 ? 1 : 0); };
  const auto batches =
      static_cast<double>(std::max({size_t{1}, ceil_divide(cost, max_batch_tokens_),
                                    ceil_divide(waiting.requests, max_batch_requests_)}));
  return run_times_.of(static_cast<double>(cost) / batches) * batches;
}

double WaitEstimate::work(const Waiting& waiting) const {
  auto work = time_of_batches(waiting);
  for (const Running& batch : running_) {
    if (batch.given_up || batch.cost == 0) continue;
    const Pace::Duration left =
        run_times_.of(static_cast<double>(batch.cost)) - batch.time_until(now_());
    work += std::max(left, Pace::Duration::zero());
  }
  return work.count();
}

/// Shared by the workers that come back.
Pace::Duration WaitEstimate::run_wait(const Waiting& waiting, double beside) const {
  if (waiting.requests == 0 && has_free_place()) return Pace::Duration::zero();
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
  return Pace::Duration((work(waiting) + beside) / static_cast<double>(workers));
}

size_t WaitEstimate::expected_cost(const Request& request) const {
  constexpr double kSpecialTokens = 2;
  const double tokens = kSpecialTokens + static_cast<double>(request.bytes) * tokens_ / text_bytes_;
  return static_cast<size_t>(std::min(tokens, static_cast<double>(longest_sequence_)));
}

}  // namespace scheduler
