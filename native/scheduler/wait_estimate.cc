#include "wait_estimate.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace scheduler {
namespace {

/// Constant part of the preparation time of a text, expressed in bytes.
constexpr size_t kOverheadBytes = 64;

/// Limit of a run time sample relative to the expected time. Longer runs have usually lost their
/// core; a single one must not cause rejections. If the model has become slower, further samples
/// show it.
constexpr double kMaxSlowdown = 4;

size_t preparation_work(const Request& request) {
  return request.bytes + kOverheadBytes * request.count;
}

}  // namespace

void RunTimes::add(double cost, ThroughputEwma::Duration time) {
  const auto size = static_cast<uint64_t>(std::ceil(std::max(cost, 1.0)));
  Size& of_size = sizes_.at(static_cast<size_t>(std::bit_width(size - 1)));
  const double kept = std::exp(-time.count());
  of_size.batches = of_size.batches * kept + 1;
  of_size.cost = of_size.cost * kept + cost;
  of_size.time = of_size.time * kept + time;
}

ThroughputEwma::Duration RunTimes::of(double cost) const {
  const Size* smaller = nullptr;  // largest measured size up to `cost`
  const Size* before = nullptr;   // measured size before `smaller`
  const Size* larger = nullptr;
  for (const Size& size : sizes_) {
    if (size.batches == 0) continue;
    if (size.mean_cost() > cost) {
      larger = &size;
      break;
    }
    before = std::exchange(smaller, &size);
  }
  const auto interpolate = [cost](double from_cost, ThroughputEwma::Duration from, double to_cost,
                                  ThroughputEwma::Duration to) {
    return from + (to - from) * ((cost - from_cost) / (to_cost - from_cost));
  };
  if (larger != nullptr) {
    // Without a smaller size the line starts at the origin.
    return smaller != nullptr ? interpolate(smaller->mean_cost(), smaller->mean_time(),
                                            larger->mean_cost(), larger->mean_time())
                              : interpolate(0, ThroughputEwma::Duration(0), larger->mean_cost(),
                                            larger->mean_time());
  }
  if (smaller == nullptr) return ThroughputEwma::Duration(0);
  const ThroughputEwma::Duration least = smaller->mean_time();
  if (before == nullptr) return least;
  const auto most = interpolate(0, ThroughputEwma::Duration(0), smaller->mean_cost(), least);
  return std::clamp(
      interpolate(before->mean_cost(), before->mean_time(), smaller->mean_cost(), least), least,
      std::max(least, most));
}

WaitEstimate::WaitEstimate(const Options& options, size_t max_tokens)
    : now_(options.now),
      max_tokens_(max_tokens),
      max_batch_tokens_(options.max_batch_tokens),
      max_batch_requests_(options.max_batch_requests),
      running_(options.workers) {}

void WaitEstimate::add_arrived(TokenizationClass input_class, Request& request) {
  request.expected_cost = expected_cost(request);
  arrived_cost_ += request.expected_cost;
  preparation(input_class).work += preparation_work(request);
}

void WaitEstimate::remove_arrived(TokenizationClass input_class, const Request& request) {
  arrived_cost_ -= request.expected_cost;
  preparation(input_class).work -= preparation_work(request);
}

/// The ratio of tokens to bytes is averaged over about 100 texts. Truncated texts are excluded.
void WaitEstimate::learn_preparation(TokenizationClass input_class, const Request& request) {
  preparation(input_class)
      .pace.add(static_cast<double>(preparation_work(request)), request.preparation_time);
  if (request.prepared->is_truncated()) return;
  constexpr double kKept = 0.99;
  tokens_ = tokens_ * kKept + static_cast<double>(request.prepared->cost());
  text_bytes_ = text_bytes_ * kKept + static_cast<double>(request.bytes);
}

ThroughputEwma::Duration RunTimes::at_most(double cost) const {
  const auto largest = std::find_if(sizes_.rbegin(), sizes_.rend(),
                                    [](const Size& size) { return size.batches > 0; });
  if (largest == sizes_.rend()) return ThroughputEwma::Duration(0);
  return std::max(of(cost), largest->mean_time() * (cost / largest->mean_cost()));
}

bool WaitEstimate::has_free_slot() const {
  return std::ranges::find(running_, size_t{0}, &Running::cost) != running_.end();
}

size_t WaitEstimate::begin(size_t cost) {
  const auto slot = std::ranges::find(running_, size_t{0}, &Running::cost);
  const auto now = now_();
  *slot = {.cost = cost, .since = now, .changed = now};
  return static_cast<size_t>(slot - running_.begin());
}

void WaitEstimate::set_cores(size_t slot, size_t cores) {
  Running& batch = running_[slot];
  const auto now = now_();
  batch.before = batch.time_until(now);
  batch.changed = now;
  batch.cores = cores;
}

double WaitEstimate::finish(size_t slot, bool is_typical) {
  const Running batch = std::exchange(running_[slot], {});
  const ThroughputEwma::Duration time = batch.time_until(now_());
  if (is_typical) learn_run(batch.cost, time);
  return time.count();
}

void WaitEstimate::learn_run(size_t cost, ThroughputEwma::Duration time) {
  const auto amount = static_cast<double>(cost);
  const ThroughputEwma::Duration expected = run_times_.at_most(amount);
  run_times_.add(amount, expected.count() > 0 ? std::min(time, kMaxSlowdown * expected) : time);
}

Clock::duration WaitEstimate::wait(TokenizationClass input_class, const Waiting& waiting,
                                   double competing_seconds) const {
  // Preparation and runs overlap.
  const auto wait = std::max(run_wait(waiting, competing_seconds), tokenization_wait(input_class));
  return std::chrono::round<Clock::duration>(wait);
}

ThroughputEwma::Duration WaitEstimate::time_of(const Preparation& preparation) {
  const auto threads = static_cast<double>(std::max<size_t>(preparation.threads, 1));
  return preparation.pace.time_for(static_cast<double>(preparation.work)) / threads;
}

/// Expected worker time of all waiting requests in full batches.
ThroughputEwma::Duration WaitEstimate::time_of_batches(const Waiting& waiting) const {
  const size_t cost = arrived_cost_ + waiting.ready_cost;
  if (cost == 0) return ThroughputEwma::Duration(0);
  const auto ceil_divide = [](size_t a, size_t b) { return a / b + (a % b != 0 ? 1 : 0); };
  const auto batches =
      static_cast<double>(std::max({size_t{1}, ceil_divide(cost, max_batch_tokens_),
                                    ceil_divide(waiting.requests, max_batch_requests_)}));
  return run_times_.of(static_cast<double>(cost) / batches) * batches;
}

double WaitEstimate::work(const Waiting& waiting) const {
  auto work = time_of_batches(waiting);
  for (const Running& batch : running_) {
    if (batch.hung || batch.cost == 0) continue;
    const ThroughputEwma::Duration left =
        run_times_.of(static_cast<double>(batch.cost)) - batch.time_until(now_());
    work += std::max(left, ThroughputEwma::Duration::zero());
  }
  return work.count();
}

/// Expected time until a worker is free for a new request. Workers with a hung run are not counted.
ThroughputEwma::Duration WaitEstimate::run_wait(const Waiting& waiting,
                                                double competing_seconds) const {
  if (waiting.requests == 0 && has_free_slot()) return ThroughputEwma::Duration::zero();
  size_t workers = 0;
  auto hung_for = Clock::duration::max();
  for (const Running& batch : running_) {
    if (batch.hung) {
      hung_for = std::min(hung_for, now_() - batch.since);
    } else {
      ++workers;
    }
  }
  // All workers hang. The best guess is the time that the latest run has taken so far.
  if (workers == 0) return hung_for;
  return ThroughputEwma::Duration((work(waiting) + competing_seconds) /
                                  static_cast<double>(workers));
}

size_t WaitEstimate::expected_cost(const Request& request) const {
  constexpr double kSpecialTokens = 2;
  const auto count = static_cast<double>(request.count);
  const double tokens =
      kSpecialTokens * count + static_cast<double>(request.bytes) * tokens_ / text_bytes_;
  return static_cast<size_t>(std::min(tokens, count * static_cast<double>(max_tokens_)));
}

}  // namespace scheduler
