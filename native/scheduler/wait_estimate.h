// Estimate of the queue wait of a request.
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "request.h"

namespace scheduler {

/// Exponentially weighted throughput. Samples decay by 1/e per second of measured work, so idle
/// time does not age them, and a change of load takes effect within one or two seconds. Not
/// thread-safe.
class ThroughputEwma {
 public:
  using Duration = std::chrono::duration<double>;

  void add(double amount, Duration time) {
    const double kept = std::exp(-time.count());
    amount_ = amount_ * kept + amount;
    time_ = time_ * kept + time;
  }

  /// Expected time for an amount of work, for example tokens or bytes; 0 without samples.
  Duration time_for(double amount) const { return time_ * (amount_ > 0 ? amount / amount_ : 0); }

 private:
  double amount_ = 0;
  Duration time_{0};
};

/// Run time of a batch as a function of its cost. The time has a constant part, so it is not
/// proportional: samples are averaged by powers of two of the cost, and times between two averages
/// are interpolated. Samples decay by 1/e per second of later batches of their size. Not
/// thread-safe.
class RunTimes {
 public:
  void add(double cost, ThroughputEwma::Duration time);

  /// Expected time; 0 without samples. For costs above the samples it is extrapolated linearly if
  /// two sizes were measured; with one size it is a lower bound, so that small batches alone do not
  /// predict long times for large ones.
  ThroughputEwma::Duration of(double cost) const;

  /// Like of(), but for costs above the samples an upper bound, proportional to the largest size.
  ThroughputEwma::Duration at_most(double cost) const;

 private:
  /// Decayed sums over batches of similar cost.
  struct Size {
    double batches = 0, cost = 0;
    ThroughputEwma::Duration time{0};

    double mean_cost() const { return cost / batches; }
    ThroughputEwma::Duration mean_time() const { return time / batches; }
  };
  static constexpr size_t kSizes = 65;

  std::array<Size, kSizes> sizes_;  ///< for costs up to 1, 2, 4, 8 …
};

/// Expected wait from the waiting requests, the running batches and the measured speeds. A running
/// batch occupies a slot, 0 … workers − 1. Not thread-safe.
class WaitEstimate {
 public:
  /// max_tokens: maximum number of tokens of a text.
  WaitEstimate(const Options& options, size_t max_tokens);

  /// Adds a request that waits for preparation, and sets its expected cost.
  void add_arrived(TokenizationClass input_class, Request& request);
  /// Removes a request that was prepared or dropped.
  void remove_arrived(TokenizationClass input_class, const Request& request);
  /// Records the preparation time and the ratio of tokens to bytes.
  void learn_preparation(TokenizationClass input_class, const Request& request);

  /// Sets the number of threads that prepare inputs of a class.
  void set_tokenizers(TokenizationClass input_class, size_t threads) {
    preparation(input_class).threads = threads;
  }
  /// Expected time until all arrived inputs of a class are prepared.
  ThroughputEwma::Duration tokenization_wait(TokenizationClass input_class) const {
    return time_of(input_class == TokenizationClass::kShort ? short_ : long_);
  }

  /// True if fewer batches run than there are workers.
  bool has_free_slot() const;
  /// Starts a batch and returns its slot. A slot must be free.
  size_t begin(size_t cost);
  /// Expected worker seconds of a batch.
  double run_time(size_t cost) const { return run_times_.of(static_cast<double>(cost)).count(); }
  /// Sets the number of workers whose cores the batch uses; 1 at its start.
  void set_cores(size_t slot, size_t cores);
  /// Ends a batch and returns its worker seconds. is_typical: they are recorded as a sample.
  double finish(size_t slot, bool is_typical);
  /// Marks a batch that has exceeded its time limit. It is no longer expected to end.
  void mark_hung(size_t slot) { running_[slot].hung = true; }
  /// Records the time of a run on the cores of one worker.
  void learn_run(size_t cost, ThroughputEwma::Duration time);

  /// Number of waiting inputs and cost of the ready ones.
  struct Waiting {
    size_t requests;
    size_t ready_cost;
  };
  /// Expected wait of a request of this class that arrives now. competing_seconds: worker seconds
  /// that other models are due first.
  Clock::duration wait(TokenizationClass input_class, const Waiting& waiting,
                       double competing_seconds) const;
  /// Expected worker seconds of waiting requests and of the remainder of running batches.
  double work(const Waiting& waiting) const;

 private:
  /// Requests in or before preparation, and the speed of preparation.
  struct Preparation {
    size_t work = 0;  ///< of waiting requests and of those in preparation
    size_t threads = 1;
    ThroughputEwma pace;  ///< of one thread
  };

  /// State of a slot. cost 0: free.
  struct Running {
    size_t cost = 0;
    Clock::time_point since;
    size_t cores = 1;                    ///< now
    Clock::time_point changed;           ///< time of the last change of `cores`
    ThroughputEwma::Duration before{0};  ///< worker time until `changed`
    bool hung = false;                   ///< has exceeded its time limit

    ThroughputEwma::Duration time_until(Clock::time_point now) const {
      return before + (now - changed) * static_cast<double>(cores);
    }
  };

  Preparation& preparation(TokenizationClass input_class) {
    return input_class == TokenizationClass::kShort ? short_ : long_;
  }
  static ThroughputEwma::Duration time_of(const Preparation& preparation);
  size_t expected_cost(const Request& request) const;
  ThroughputEwma::Duration time_of_batches(const Waiting& waiting) const;
  ThroughputEwma::Duration run_wait(const Waiting& waiting, double competing_seconds) const;

  Clock::time_point (*const now_)();
  const size_t max_tokens_;
  const size_t max_batch_tokens_, max_batch_requests_;
  Preparation short_;
  Preparation long_;
  size_t arrived_cost_ = 0;  ///< expected cost of requests before preparation
  std::vector<Running> running_;
  RunTimes run_times_;                  ///< of one worker
  double tokens_ = 1, text_bytes_ = 4;  ///< decayed sums over recent texts
};

}  // namespace scheduler
