// The bounded queue between the callers, the thread that prepares, and the workers.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

#include "engine/engine.h"

namespace engine {

/// One accepted request on its way through the queue.
struct Request {
  uint64_t ticket = 0;
  Input input;
  size_t bytes = 0;  ///< of the input, for the queue's bound
  Clock::time_point arrival;
  Clock::time_point deadline;
  Sequence sequence;  ///< valid once prepared
  Clock::duration preparation_time{0};
  Completions ending = Completions(1);  ///< how it ends: one element, until it is handed on
};

/// What a taker gets: requests to run, and those whose deadline passed while they waited.
struct Taken {
  Requests batch;
  Requests expired;
  bool closed = false;  ///< nothing will come any more
};

/// Inputs are prepared in two lines: what takes a long time does not hold up what does not.
enum class Lane { kShort, kLong };

/// Lines in order of arrival, behind one lock: requests that arrived, by lane, and requests that
/// are ready to run. The bound counts all, and what is being prepared. Any thread.
///
/// Lines and what is taken from them are lists, between which elements are spliced: only push()
/// needs memory, and a request that was accepted cannot be lost for want of it.
class RequestQueue {
 public:
  explicit RequestQueue(const Options& options) : options_(options) {}

  /// kOk, kQueueFull or kDraining; only kOk takes the request. `ready`: needs no preparation.
  /// Throws std::bad_alloc, and then nothing has changed.
  Status push(std::unique_ptr<Request>& request, bool ready);

  /// The next request of the lane to prepare; waits for one. `closed` when there will be none.
  Taken take_arrived(Lane lane);

  /// Back from preparation, into the line of the workers: the one request that take_arrived() gave.
  void push_ready(Requests request);

  /// A request that take_arrived() gave will not come back.
  void drop_arrived(const Request& request);

  /// What waits, at once, oldest first, up to the budget of tokens and requests (one always fits).
  Taken take_batch();

  /// The request if it still waits, else nothing.
  std::unique_ptr<Request> remove(uint64_t ticket);

  /// Refuse what comes from now on. What waits is still given out.
  void close();

  /// close(), and give back all that waits.
  Requests close_and_clear();

  size_t size() const;
  size_t bytes() const;  ///< of the inputs that wait

 private:
  /// Requests to prepare, and who waits for one.
  struct Arrived {
    Requests line;
    std::condition_variable changed;
  };

  bool drained() const {
    return closed_ && short_.line.empty() && long_.line.empty() && preparing_ == 0;
  }
  Arrived& arrived(Lane lane) { return lane == Lane::kShort ? short_ : long_; }
  bool batch_is_full() const;
  void account_removed(const Request& request);
  void move_expired(Requests& line, Requests& expired);

  const Options options_;
  mutable std::mutex mutex_;
  Arrived short_;
  Arrived long_;
  std::condition_variable ready_changed_;
  Requests ready_;
  size_t preparing_ = 0;  ///< taken by take_arrived() and not yet back
  size_t requests_ = 0;
  size_t bytes_ = 0;
  size_t ready_cost_ = 0;
  bool closed_ = false;
};

}  // namespace engine
