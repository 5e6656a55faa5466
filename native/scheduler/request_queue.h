// The bounded queue of one model, between the callers, the threads that prepare, and the workers.
#pragma once

#include "request.h"
#include "wait_estimate.h"

namespace scheduler {

/// Requests to run, and those whose deadline passed while they waited.
struct Taken {
  Requests batch;
  Requests expired;
  size_t place = 0;     ///< of the batch among those that run; see WaitEstimate
  double expected = 0;  ///< worker's time for it, in seconds
};

/// A request to prepare, and those whose deadline passed while they waited.
struct TakenArrival {
  Request* request = nullptr;  ///< of the queue, until it is given back; null: none waits
  Requests expired;
};

/// Lines in order of arrival: requests that arrived, by lane, requests that are being prepared, and
/// requests that are ready to run. The bounds count all. Not synchronized: the machine's lock is
/// around it.
///
/// Nothing in it needs memory: a request that was accepted cannot be lost for want of it.
class RequestQueue {
 public:
  /// longest_sequence: tokens that a text has at most.
  RequestQueue(const Options& options, size_t longest_sequence)
      : options_(options), estimate_(options, longest_sequence) {}

  /// All of them or none; only kOk takes the requests. All have one deadline. `ready`: they need no
  /// preparation. `beside`: worker's time that other models have first, in seconds.
  Admission push(Requests& requests, bool ready, double beside);

  /// What push() would say now of one small request in the lane with the shorter wait: the request
  /// itself is not known yet.
  Admission admission(Clock::time_point deadline, double beside) const;

  /// When the next request of the lane arrived; max() where none waits.
  Clock::time_point next_arrival(Lane lane) const;

  /// The next request of the lane to prepare. It has to be given back by push_ready() or
  /// drop_arrived().
  TakenArrival take_arrived(Lane lane);

  /// Back from preparation, into the queue of the workers.
  void push_ready(Request& request);

  /// Back from preparation, and out of the queue.
  Requests drop_arrived(Request& request);

  /// close_and_clear() was called: what is being prepared is to be dropped, too.
  bool is_cleared() const { return cleared_; }

  /// When a batch is to be taken; max() where none waits, or all workers that the model may have
  /// are at work on it. Later than now while it waits for others to share its batch.
  Clock::time_point next_batch() const;

  /// What waits, at once, oldest first, up to the worker's share of it, and to the limits of tokens
  /// and requests (one always fits).
  Taken take_batch();

  /// What the queue is told of batches that it gave, and of how they went.
  WaitEstimate& runs() { return estimate_; }

  /// The request if it still waits, else none. One that is being prepared is marked as cancelled.
  Requests remove(uint64_t ticket);

  /// What waits and is past its deadline, for when no worker comes to take it.
  Requests take_expired();

  /// Refuse what comes from now on. What waits is still given out.
  void close() { closed_ = true; }
  bool is_closed() const { return closed_; }

  /// close(), and give back all that waits.
  Requests close_and_clear();

  size_t size() const { return requests_; }
  size_t bytes() const { return bytes_; }  ///< of the inputs that wait
  /// Worker's time that what waits will take, and what is left of what runs, in seconds.
  double work() const { return estimate_.work(waiting()); }
  /// Expected, until an input of this lane that comes now begins to run.
  Clock::duration wait(Lane lane, double beside) const {
    return estimate_.wait(lane, waiting(), beside);
  }

 private:
  struct Fifo {
    Requests requests;
    /// No deadline in it is earlier.
    Clock::time_point next_deadline = Clock::time_point::max();

    void push_back(Requests& from, Requests::iterator request);
  };

  Lane lane_of(const Request& request) const {
    return request.bytes < options_.long_input_bytes ? Lane::kShort : Lane::kLong;
  }
  WaitEstimate::Waiting waiting() const {
    return {.requests = requests_, .ready_cost = ready_cost_};
  }
  Admission admission(size_t requests, size_t bytes, Clock::duration expected,
                      Clock::time_point deadline) const;
  Requests::iterator place_of(const Request& preparing);
  Fifo& arrived(Lane lane) { return lane == Lane::kShort ? short_ : long_; }
  bool batch_is_full() const;
  size_t batch_budget() const;
  void account_removed(const Request& request);
  void account_left(const Fifo& fifo, const Request& request);
  void move_expired(Fifo& fifo, Requests& expired);

  const Options options_;
  Fifo short_;
  Fifo long_;
  Requests preparing_;
  Fifo ready_;
  size_t requests_ = 0;
  size_t bytes_ = 0;
  size_t ready_cost_ = 0;
  WaitEstimate estimate_;
  bool closed_ = false;
  bool cleared_ = false;  ///< by close_and_clear()
};

}  // namespace scheduler
