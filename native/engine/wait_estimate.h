// How long a request would wait before it runs.
#pragma once

#include <chrono>
#include <cmath>
#include <vector>

#include "request.h"

namespace engine {

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
  double run_time(size_t cost) const {
    return run_pace_.time_for(static_cast<double>(cost)).count();
  }
  /// From now on that batch runs on so many workers' cores. It began with one's.
  void set_cores(size_t place, size_t cores);
  /// That batch is done; is_typical: the pace learns of it. Returns the worker's time that it took,
  /// in seconds.
  double finish(size_t place, bool is_typical);
  /// That batch takes too long: it says nothing of the pace, and when it ends is not known.
  void give_up(size_t place) { running_[place].given_up = true; }
  /// What a run that nobody waited for took, on one worker's cores.
  void learn_run(size_t cost, Pace::Duration time);

  /// What waits behind the estimate's own: of those that are prepared; is_empty: nothing at all.
  struct Waiting {
    size_t ready_cost;
    bool is_empty;
  };
  /// Of a request of this lane that comes now. beside: worker's time that other models have first,
  /// in seconds.
  Clock::duration wait(Lane lane, const Waiting& waiting, double beside) const;
  /// Worker's time that what waits will take, and what is left of what runs, in seconds.
  double work(size_t ready_cost) const;

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
  Pace::Duration run_wait(const Waiting& waiting, double beside) const;

  Clock::time_point (*const now_)();
  const size_t longest_sequence_;
  Preparation short_;
  Preparation long_;
  size_t arrived_cost_ = 0;  ///< expected, of what is not yet prepared
  std::vector<Running> running_;
  Pace run_pace_;                       ///< of one worker, by cost
  double tokens_ = 1, text_bytes_ = 4;  ///< of recent texts, for the cost of those to come
};

}  // namespace engine
