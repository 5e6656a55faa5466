// How long a request would wait before it runs.
#pragma once

#include <vector>

#include "pace.h"
#include "request.h"

namespace engine {

/// From what waits, what runs, and how fast such things went before. Not synchronized: the queue's
/// lock is around it.
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

  /// The worker, 0 … workers - 1, begins a batch; cost 0: it has none.
  void begin(size_t worker, size_t cost);
  /// That batch, which it ran on so many workers' cores, is done.
  void finish(size_t worker, size_t cores);
  /// That batch takes too long: it says nothing of the pace, and nobody knows when it ends.
  void give_up(size_t worker);
  /// What a run that nobody waited for took, on one worker's cores.
  void learn_run(size_t cost, Pace::Duration time);

  /// Of a request of this lane that comes now. ready_cost: of those that are prepared and wait;
  /// is_empty: nothing waits at all.
  Clock::duration wait(Lane lane, size_t ready_cost, bool is_empty) const;

 private:
  /// Requests to prepare, and how long that takes.
  struct Preparation {
    size_t work = 0;  ///< of those that wait, and of the one that is being prepared
    Pace pace;
  };

  /// What a worker runs; cost 0: nothing.
  struct Running {
    size_t cost = 0;
    Clock::time_point since;
    bool given_up = false;  ///< nobody knows when it ends
  };

  Preparation& preparation(Lane lane) { return lane == Lane::kShort ? short_ : long_; }
  size_t expected_cost(const Request& request) const;
  Pace::Duration run_wait(size_t ready_cost, bool is_empty) const;

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
