// The bounded queue between the callers, the thread that prepares, and the workers.
#pragma once

#include <condition_variable>
#include <mutex>

#include "request.h"
#include "wait_estimate.h"

namespace engine {

/// What a taker gets: requests to run, and those whose deadline passed while they waited.
struct Taken {
  Requests batch;
  Requests expired;
  bool closed = false;  ///< nothing will come any more
};

/// Lines in order of arrival, behind one lock: requests that arrived, by lane, and requests that
/// are ready to run. The bounds count all, and what is being prepared. Any thread.
///
/// Nothing in it needs memory: a request that was accepted cannot be lost for want of it.
class RequestQueue {
 public:
  /// longest_sequence: tokens that a text has at most.
  RequestQueue(const Options& options, size_t longest_sequence)
      : options_(options), estimate_(options, longest_sequence) {}

  /// All of them or none; only kOk takes the requests. All have one deadline. `ready`: they need no
  /// preparation.
  Admission push(Requests& requests, bool ready);

  /// What push() would say now of one small request with this deadline.
  Admission admission(Clock::time_point deadline) const;

  /// The next request of the lane to prepare; waits for one. `closed` when there will be none.
  Taken take_arrived(Lane lane);

  /// Back from preparation, into the line of the workers. False: meanwhile all that waited was
  /// given back, and so is this.
  [[nodiscard]] bool push_ready(Requests& request);

  /// A request that take_arrived() gave will not come back.
  void drop_arrived(const Request& request);

  /// What waits, at once, oldest first, up to the budget of tokens and requests (one always fits).
  /// The worker, 0 … workers - 1, runs it until finished().
  Taken take_batch(size_t worker);

  /// The batch of this worker takes too long: it says nothing of the pace, and whether the worker
  /// comes back is not known.
  void give_up(size_t worker);

  /// The batch of this worker, which it ran on so many workers' cores, is done.
  void finished(size_t worker, size_t cores);

  /// What a run that nobody waited for took, on one worker's cores.
  void learn_pace(size_t cost, Clock::duration time);

  /// The request if it still waits, else none.
  Requests remove(uint64_t ticket);

  /// What waits and is past its deadline, for when no worker comes to take it.
  Requests take_expired();

  /// Refuse what comes from now on. What waits is still given out.
  void close();

  /// close(), and give back all that waits.
  Requests close_and_clear();

  size_t size() const;
  size_t bytes() const;          ///< of the inputs that wait
  Clock::duration wait() const;  ///< expected, until a short input that comes now begins to run

 private:
  struct Line {
    Requests requests;
    /// No deadline in it is earlier.
    Clock::time_point next_deadline = Clock::time_point::max();

    void push_back(Requests& from, Requests::iterator request);
  };

  /// Requests to prepare, and who waits for one.
  struct Arrived {
    Line line;
    std::condition_variable changed;
  };

  bool drained() const {
    return closed_ && short_.line.requests.empty() && long_.line.requests.empty() &&
           preparing_ == 0;
  }
  Lane lane_of(const Request& request) const {
    return request.bytes < options_.long_input_bytes ? Lane::kShort : Lane::kLong;
  }
  Arrived& arrived(Lane lane) { return lane == Lane::kShort ? short_ : long_; }
  Admission admit(size_t requests, size_t bytes, Lane lane, Clock::time_point deadline) const;
  Clock::duration wait(Lane lane) const {
    return estimate_.wait(lane, ready_cost_, requests_ == 0);
  }
  bool batch_is_full() const;
  void forget_arrived(const Request& request);
  void account_removed(const Request& request);
  void account_left(const Line& line, const Request& request);
  void move_expired(Line& line, Requests& expired);

  const Options options_;
  mutable std::mutex mutex_;
  Arrived short_;
  Arrived long_;
  std::condition_variable ready_changed_;
  Line ready_;
  size_t preparing_ = 0;  ///< taken by take_arrived() and not yet back
  size_t requests_ = 0;
  size_t bytes_ = 0;
  size_t ready_cost_ = 0;
  WaitEstimate estimate_;
  bool closed_ = false;
  bool cleared_ = false;  ///< by close_and_clear()
};

}  // namespace engine
