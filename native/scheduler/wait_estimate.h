// How long a request would wait before it runs.
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "request.h"

namespace scheduler {

/// Time for an amount of work (tokens, bytes), from what the work before it took. What was measured
/// longer ago counts less: by the number e for each second of work since, so that a change of load
/// is followed within a second or two, and a pause changes nothing. Not synchronized.
class Pace {
 public:
  using Duration = std::chrono::duration<double>;

  void add(double amount, Duration time) {
    const double kept = std::exp(-time.count());
    amount_ = amount_ * kept + amount;
    time_ = time_ * kept + time;
  }

  /// 0 where nothing was measured.
  Duration time_for(double amount) const { return time_ * (amount_ > 0 ? amount / amount_ : 0); }

 private:
  double amount_ = 0;
  Duration time_{0};
};

/// Time of a batch by its cost, from the batches before it. Part of that time does not depend on
/// the cost, so that the time of a small batch says little about a large one: times are kept by the
/// size of a batch, and read off a line between two sizes. As of Pace, a time counts less by the
/// number e for each second of later batches of its size. Not synchronized.
class RunTimes {
 public:
  void add(double cost, Pace::Duration time);

  /// 0 where nothing was measured. A lower bound beyond a single size that was measured: a large
  /// batch must not be expected to take long because small ones have run alone so far.
  Pace::Duration of(double cost) const;

  /// An upper bound beyond the sizes that were measured: in proportion to the largest.
  Pace::Duration at_most(double cost) const;

 private:
  /// Sums over batches of similar size.
  struct Size {
    double batches = 0, cost = 0;
    Pace::Duration time{0};

    double mean_cost() const { return cost / batches; }
    Pace::Duration mean_time() const { return time / batches; }
  };
  static constexpr size_t kSizes = 65;

  std::array<Size, kSizes> sizes_;  ///< by costs up to 1, 2, 4, 8 …
};

/// From what waits, what runs, and how fast such things went before. Not synchronized.
class WaitEstimate {
 public:
  /// longest_sequence: tokens that a text has at most.
  WaitEstimate(const Options& options, size_t longest_sequence);

  /// Waits to be prepared from now on. Fills in what it is expected to cost.
  void add_arrived(Lane lane, Request& request);
  /// Does not wait for its preparation any more: that is done, or will not be.
  void remove_arrived(Lane lane, const Request& request);
  /// What its preparation says of those to come.
  void learn_preparation(Lane lane, const Request& request);

  /// Whether fewer batches run than may.
  bool has_free_place() const;
  /// A batch begins, at the place that is returned, 0 … workers - 1, which has to be free.
  size_t begin(size_t cost);
  /// Worker's time for a batch of this cost, in seconds.
  double run_time(size_t cost) const { return run_times_.of(static_cast<double>(cost)).count(); }
  /// From now on that batch runs on so many workers' cores. It began with one's.
  void set_cores(size_t place, size_t cores);
  /// That batch is done; is_typical: the pace learns of it. Returns the worker's time that it took,
  /// in seconds.
  double finish(size_t place, bool is_typical);
  /// That batch takes too long: it says nothing of the pace, and when it ends is not known.
  void give_up(size_t place) { running_[place].given_up = true; }
  /// The time of a run without requests, on one worker's cores.
  void learn_run(size_t cost, Pace::Duration time);

  /// All requests that wait, and the cost of those that are prepared.
  struct Waiting {
    size_t requests;
    size_t ready_cost;
  };
  /// Of a request of this lane that comes now. beside: worker's time that other models have first,
  /// in seconds.
  Clock::duration wait(Lane lane, const Waiting& waiting, double beside) const;
  /// Worker's time that what waits will take, and what is left of what runs, in seconds.
  double work(const Waiting& waiting) const;

 private:
  /// Requests to prepare, and how long that takes.
  struct Preparation {
    size_t work = 0;  ///< of those that wait, and of the one that is being prepared
    Pace pace;
  };

  /// A batch; cost 0: none.
  struct Running {
    size_t cost = 0;
    Clock::time_point since;
    size_t cores = 1;           ///< now
    Clock::time_point changed;  ///< when they became so many
    Pace::Duration before{0};   ///< worker's time until then
    bool given_up = false;      ///< nobody knows when it ends

    Pace::Duration time_until(Clock::time_point now) const {
      return before + (now - changed) * static_cast<double>(cores);
    }
  };

  Preparation& preparation(Lane lane) { return lane == Lane::kShort ? short_ : long_; }
  size_t expected_cost(const Request& request) const;
  Pace::Duration time_of_batches(const Waiting& waiting) const;
  Pace::Duration run_wait(const Waiting& waiting, double beside) const;

  Clock::time_point (*const now_)();
  const size_t longest_sequence_;
  const size_t max_batch_tokens_, max_batch_requests_;
  Preparation short_;
  Preparation long_;
  size_t arrived_cost_ = 0;  ///< expected, of what is not yet prepared
  std::vector<Running> running_;
  RunTimes run_times_;                  ///< of one worker
  double tokens_ = 1, text_bytes_ = 4;  ///< of recent texts, for the cost of those to come
};

}  // namespace scheduler
