// The bounded request queue of one model, between clients, tokenization threads and workers.
#pragma once

#include "request.h"
#include "wait_estimate.h"

namespace scheduler {

/// A batch to run, and the requests whose deadline has passed.
struct DequeuedBatch {
  Requests batch;
  Requests expired;
  size_t slot = 0;      ///< of the batch, see WaitEstimate
  double expected = 0;  ///< expected worker seconds of the batch
};

/// A request to prepare, and the requests whose deadline has passed.
struct DequeuedArrival {
  Request* request = nullptr;  ///< owned by the queue; null if no request waits
  Requests expired;
};

/// FIFO lists: arrived requests by TokenizationClass, requests in preparation, and requests that
/// are ready to run. The limits count all of them. Guarded by the scheduler's lock.
///
/// No function allocates, so an accepted request is not lost if memory runs out.
class RequestQueue {
 public:
  /// max_tokens: maximum number of tokens of a text.
  RequestQueue(const Options& options, size_t max_tokens)
      : options_(options), estimate_(options, max_tokens) {}

  /// Accepts all requests or none; moves them out of `requests` only if the status is kOk. They
  /// have the same deadline. `ready`: they need no preparation. `competing_seconds`: worker seconds
  /// that other models are due first.
  Admission push(Requests& requests, bool ready, double competing_seconds);

  /// Returns the admission of one small request in the class with the shorter wait.
  Admission admission(Clock::time_point deadline, double competing_seconds) const;

  /// Arrival time of the first request of the class; max() if no request waits.
  Clock::time_point next_arrival(TokenizationClass input_class) const;

  /// Dequeues the next request to prepare. The caller must pass it to push_ready() or
  /// drop_arrived(), unless remove() or close_and_clear() has returned it.
  DequeuedArrival dequeue_arrival(TokenizationClass input_class);

  /// Adds a prepared request to the ready list, in the order of arrival.
  void push_ready(Request& request);

  /// Removes a request in preparation from the queue.
  Requests drop_arrived(Request& request);

  /// Time at which the next batch may start; max() if no request is ready or all workers of the
  /// model are busy. Later than now while batching waits for further requests.
  Clock::time_point next_batch() const;

  /// Dequeues the oldest ready requests, up to the batch limits and the worker's share of the
  /// queue. One request always fits.
  DequeuedBatch dequeue_batch();

  /// Bookkeeping of running batches.
  WaitEstimate& runs() { return estimate_; }

  /// Removes and returns a request that waits or is in preparation; otherwise an empty list.
  Requests remove(uint64_t ticket);

  /// Removes and returns waiting requests whose deadline has passed.
  Requests take_expired();

  /// Rejects new requests; waiting requests are still dequeued.
  void close() { closed_ = true; }
  bool is_closed() const { return closed_; }

  /// Rejects new requests, and returns all that wait or are in preparation.
  Requests close_and_clear();

  /// Sets the number of threads that tokenize inputs of a class.
  void set_tokenizers(TokenizationClass input_class, size_t threads) {
    estimate_.set_tokenizers(input_class, threads);
  }
  /// Expected time until all arrived inputs of a class are tokenized.
  ThroughputEwma::Duration tokenization_wait(TokenizationClass input_class) const {
    return estimate_.tokenization_wait(input_class);
  }

  size_t size() const { return count_; }   ///< in inputs
  size_t bytes() const { return bytes_; }  ///< of waiting inputs
  /// Expected worker seconds of waiting requests and of the remainder of running batches.
  double work() const { return estimate_.work(waiting()); }
  /// Expected queue wait of an input of this class that arrives now.
  Clock::duration wait(TokenizationClass input_class, double competing_seconds) const {
    return estimate_.wait(input_class, waiting(), competing_seconds);
  }

 private:
  struct Fifo {
    Requests requests;
    /// Lower bound of the deadlines.
    Clock::time_point next_deadline = Clock::time_point::max();

    void push_back(Requests& from, Requests::iterator request);
  };

  TokenizationClass class_of(const Request& request) const {
    return request.bytes < options_.long_input_bytes ? TokenizationClass::kShort
                                                     : TokenizationClass::kLong;
  }
  WaitEstimate::Waiting waiting() const { return {.requests = count_, .ready_cost = ready_cost_}; }
  Admission admission(size_t count, size_t bytes, Clock::duration expected,
                      Clock::time_point deadline) const;
  Requests::iterator find_preparing(const Request& preparing);
  Fifo& arrived(TokenizationClass input_class) {
    return input_class == TokenizationClass::kShort ? short_ : long_;
  }
  bool batch_is_full() const;
  size_t batch_budget() const;
  void account_ready(const Request& request);
  void account_unready(const Request& request);
  void account_removed(const Request& request);
  void account_left(const Fifo& fifo, const Request& request);
  void move_expired(Fifo& fifo, Requests& expired);

  const Options options_;
  Fifo short_;
  Fifo long_;
  Requests preparing_;
  Fifo ready_;
  size_t count_ = 0;  ///< inputs
  size_t bytes_ = 0;
  size_t ready_count_ = 0;  ///< inputs of ready_
  size_t ready_cost_ = 0;
  WaitEstimate estimate_;
  bool closed_ = false;
};

}  // namespace scheduler
