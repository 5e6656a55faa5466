// The queue of one model: accepts requests, which the scheduler's threads prepare and run in
// batches.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/backend.h"
#include "scheduler/result_cache.h"
#include "scheduler/scheduler.h"

namespace scheduler {

/// Settings of a model's queue. All counts are at least 1.
struct Options {
  size_t workers = 1;             ///< maximum number of concurrent batches
  size_t threads_per_worker = 1;  ///< threads for each of several concurrent batches
  size_t max_batch_tokens = 512;
  size_t max_batch_requests = 64;
  Clock::duration max_queue_delay{0};  ///< time that a batch waits for further requests
  size_t max_queue_requests = 2048;
  size_t max_queue_bytes = size_t{64} * 1024 * 1024;  ///< of waiting inputs
  /// Requests with a longer expected queue wait are rejected.
  Clock::duration max_queue_wait = Clock::duration::max();
  /// Inputs of this size and larger belong to TokenizationClass::kLong. Tokenizing a smaller text
  /// takes 20 ms at most.
  size_t long_input_bytes = size_t{16} * 1024;
  std::chrono::milliseconds run_limit{60'000};  ///< time limit of a run, and of a preparation
  double weight = 1;  ///< share of worker time relative to other busy models; greater than 0
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::shared_ptr<ResultCache> results{};   ///< cache of outputs of a text model; null: no cache
  Clock::time_point (*now)() = Clock::now;  ///< current time; tests replace it
};

/// Outcome of a request.
enum class Status {
  kOk,
  // Rejected:
  kQueueFull,
  kWaitTooLong,       ///< the expected wait exceeds Options::max_queue_wait
  kDeadlineTooClose,  ///< the deadline is before the expected start
  kDraining,
  // Accepted, then failed:
  kDeadlineExceeded,
  kCancelled,
  kTimedOut,  ///< the run or the preparation exceeded Options::run_limit
  kTooLong,   ///< see InputTooLong
  kFailed
};
inline constexpr size_t kStatuses = static_cast<size_t>(Status::kFailed) + 1;

/// Result of admission control.
struct Admission {
  Status status = Status::kOk;  ///< kOk: accepted
  Clock::duration wait{0};      ///< expected queue wait
};

/// Outcome of an accepted request. `ticket`: the caller's number of the request.
struct Completion {
  uint64_t ticket = 0;
  Status status = Status::kOk;
  size_t count = 1;               ///< see Input::count()
  std::string message;            ///< of kTimedOut, kTooLong and kFailed
  std::optional<size_t> element;  ///< of kTooLong and kFailed, see BackendError
  Output output;
  PreparedPtr input;        ///< null if the request ended before its preparation did
  size_t batch_size = 0;    ///< inputs in the batch; 0: the model was not run
  size_t batch_tokens = 0;  ///< cost of the batch, set in one of its requests; 0 in the others
  Clock::duration queue_time{0};        ///< waiting before and after preparation
  Clock::duration preparation_time{0};  ///< tokenization
  Clock::duration inference_time{0};    ///< of the whole batch
};

/// Counters since the start, and the current state of the queue.
struct Statistics {
  size_t queue_requests = 0;
  size_t queue_requests_limit = 0;
  size_t queue_bytes = 0;  ///< of waiting inputs
  size_t queue_bytes_limit = 0;
  Clock::duration queue_wait{0};  ///< expected queue wait of a short input that is submitted now
  Clock::duration queue_wait_limit{0};
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t refused = 0;
  uint64_t cancelled = 0;
  uint64_t expired = 0;
  uint64_t timed_out = 0;
  uint64_t too_long = 0;
  uint64_t batches = 0;
  uint64_t cache_hits = 0;     ///< inputs whose output was cached
  uint64_t cache_misses = 0;   ///< inputs that were run; 0 without a cache
  size_t cache_bytes = 0;      ///< of cached outputs
  uint64_t reused_states = 0;  ///< see Backend::reused_states()
  /// Age of the oldest run or preparation over its time limit; 0: none hangs.
  Clock::duration hung_for{0};
};

/// Completions are allocated at admission and spliced between lists, so reporting a result
/// allocates nothing.
using Completions = std::list<Completion>;

/// Receives the completions of a batch together. Called on the scheduler's threads. Must not throw.
using CompletionHandler = std::function<void(Completions)>;

class CachedRuns;
class RequestQueue;
struct Request;
using Requests = std::list<Request>;

/// Any thread may call the public functions. Every accepted request ends in exactly one Completion,
/// also if the queue is closed or aborted.
class ModelQueue {
 public:
  /// Blocks until every free worker is warmed up for the model, and at least one worker is. While
  /// other models serve requests, one worker at a time warms up. Throws the error of the warm-up,
  /// or std::system_error if no thread can be started.
  ModelQueue(std::shared_ptr<Scheduler> scheduler, std::shared_ptr<Backend> backend,
             Options options, CompletionHandler on_completions);
  ~ModelQueue();  ///< abort()
  ModelQueue(const ModelQueue&) = delete;
  ModelQueue& operator=(const ModelQueue&) = delete;

  /// Accepts all inputs or none, with the tickets first_ticket, first_ticket + 1, … Rejected inputs
  /// have no completion. Throws std::bad_alloc and, for a model without preparation, the error of
  /// Backend::prepare(); then no input is accepted.
  Admission submit(uint64_t first_ticket, std::vector<InputPtr> inputs, Clock::time_point deadline);

  /// Returns the admission that one small input would get now. The input's TokenizationClass is not
  /// known yet: the class with the shorter wait counts.
  Admission admission(Clock::time_point deadline) const;

  /// Cancels a request; it completes as kCancelled unless it already runs.
  void cancel(uint64_t ticket);

  Statistics statistics() const;

  /// Rejects new requests and runs the accepted ones. Blocks until they have completed, but waits
  /// neither for hung runs nor after a call of abort_within().
  void close();

  /// Changes Options::weight.
  void set_weight(double weight);

  /// Rejects new requests and completes the waiting ones as kDraining.
  void drop();

  /// drop(), then leaves the scheduler after the running batches. Blocks until then.
  void abort();

  /// abort() with a time limit, which does not wait for hung runs. Returns false if a thread still
  /// uses the queue; the queue must then exist until a call of abort() returns.
  bool abort_within(Clock::duration timeout);

 private:
  friend class Scheduler;
  struct Part;
  /// Outcome of the preparation of an input. Valid if the status is kOk: `prepared`, and `output`
  /// unless the model is run.
  struct Preparation {
    PreparedPtr prepared;
    Status status = Status::kOk;
    bool needs_run = false;
    Output output;
    std::string message;
    std::optional<size_t> element;
    Clock::time_point start;
    Clock::duration time{0};
  };
  struct RunResult;

  std::condition_variable& arrived_changed(TokenizationClass input_class) {
    return arrived_changed_.at(static_cast<size_t>(input_class));
  }
  size_t threads_of_all_workers() const { return options_.workers * options_.threads_per_worker; }
  void warm_up_worker(Scheduler::Worker& worker, bool is_in_service);
  std::optional<Clock::duration> measure(const PreparedInput& sample, size_t count,
                                         Scheduler::Worker& worker);
  Preparation prepare(InputPtr input) const noexcept;
  bool run_batch(Requests& batch, Scheduler::Worker& worker);
  std::optional<RunResult> run_part(Requests& batch, const Part& part,
                                    Scheduler::Worker& worker) noexcept;
  void complete_as(Status status, Requests& requests) noexcept;
  void deliver(Completions completions) noexcept;
  // Called with the scheduler's lock held:
  void mark_timed_out(Requests& batch) noexcept;
  Completions apply(Request& request, Preparation preparation) noexcept;
  void discard_preparations(const Requests& removed) noexcept;
  size_t count_tokenizers(TokenizationClass input_class) const;
  void join_ended_tokenizers();
  void release_thread();
  size_t hung_runs() const;

  const std::shared_ptr<Scheduler> scheduler_;
  const std::shared_ptr<Backend> backend_;
  const Description description_;
  const Options options_;
  const CompletionHandler on_completions_;
  const std::unique_ptr<CachedRuns> cached_runs_;          ///< null: outputs are not cached
  std::array<std::atomic<uint64_t>, kStatuses> counts_{};  ///< inputs by status
  std::atomic<uint64_t> batches_{0};
  // Guarded by the scheduler's lock:
  const std::unique_ptr<RequestQueue> requests_;
  Completions watchdog_completions_;  ///< not delivered yet
  std::exception_ptr warm_up_error_;  ///< null: no worker has failed to warm up
  size_t busy_threads_ = 0;           ///< threads of the scheduler that work for this queue
  double weight_;                     ///< see Options::weight
  double virtual_runtime_ = 0;        ///< consumed worker seconds divided by the weight
  bool abandoned_ = false;            ///< abort_within() has been called
  bool in_service_ = false;           ///< at least one request was accepted
  bool stopping_ = false;             ///< the tokenization threads must end
  std::array<std::condition_variable, 2> arrived_changed_;  ///< by TokenizationClass
  std::list<Scheduler::Tokenizer> tokenizers_;              ///< empty if inputs need no preparation
};

}  // namespace scheduler
