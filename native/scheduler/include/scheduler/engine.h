// The scheduler of one model: accepts requests, and has them prepared and run in batches by the
// machine's threads.
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
#include "scheduler/machine.h"
#include "scheduler/result_cache.h"

namespace scheduler {

/// How the engine may use the machine. All counts are at least 1.
struct Options {
  size_t workers = 1;             ///< batches at once
  size_t threads_per_worker = 1;  ///< on a batch; on one that runs alone, those of all workers
  size_t max_batch_tokens = 512;
  size_t max_batch_requests = 64;
  Clock::duration max_queue_delay{0};  ///< how long a worker may wait for more requests
  size_t max_queue_requests = 2048;
  size_t max_queue_bytes = size_t{64} * 1024 * 1024;  ///< of inputs that wait
  /// A request is refused that is expected to wait longer before it runs.
  Clock::duration max_queue_wait = Clock::duration::max();
  /// Inputs from this size on are prepared on a thread of their own. A text below it takes 20 ms at
  /// most, if all of it must be tokenized.
  size_t long_input_bytes = size_t{16} * 1024;
  /// The longest that a run of the model may take.
  std::chrono::milliseconds run_limit{60'000};
  /// Of the workers' time, beside the shares of other models that want it, too; above 0.
  double share = 1;
  /// Keeps the answers of a model of texts; null: nobody does.
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::shared_ptr<ResultCache> results{};
  /// What time it is; for tests, a clock of their own.
  Clock::time_point (*now)() = Clock::now;
};

/// How a request ended.
enum class Status {
  kOk,
  // Refused:
  kQueueFull,
  kWaitTooLong,       ///< over Options::max_queue_wait
  kDeadlineTooClose,  ///< the deadline is before it could begin to run
  kDraining,
  // Accepted:
  kDeadlineExceeded,
  kCancelled,
  kTimedOut,  ///< the model ran longer than it may
  kTooLong,   ///< more tokens than fit, and it may not be cut
  kFailed
};
inline constexpr size_t kStatuses = static_cast<size_t>(Status::kFailed) + 1;

/// The answer to a request that comes.
struct Admission {
  Status status = Status::kOk;  ///< kOk: accepted
  Clock::duration wait{0};      ///< expected until it would begin to run
};

/// The end of one request; `ticket` is the caller's own number for it.
struct Completion {
  uint64_t ticket = 0;
  Status status = Status::kOk;
  std::string message;  ///< for kTimedOut, kTooLong and kFailed
  Output output;
  PreparedPtr input;  ///< as the model read it; null if the request ended before it was prepared
  size_t batch_size = 0;
  size_t batch_tokens = 0;              ///< of one request of the batch; 0 in the others
  Clock::duration queue_time{0};        ///< waiting, before and after preparation
  Clock::duration preparation_time{0};  ///< tokenization
  Clock::duration inference_time{0};    ///< of the whole batch
};

/// Counters since the start, and what waits now.
struct Statistics {
  size_t queue_requests = 0;
  size_t queue_requests_limit = 0;  ///< more are refused
  size_t queue_bytes = 0;           ///< of inputs
  size_t queue_bytes_limit = 0;     ///< more are refused
  /// Expected until a request that comes now begins to run, from the pace of what ran before.
  Clock::duration queue_wait{0};
  Clock::duration queue_wait_limit{0};  ///< a longer one is refused
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t refused = 0;
  uint64_t cancelled = 0;
  uint64_t expired = 0;
  uint64_t timed_out = 0;
  uint64_t too_long = 0;
  uint64_t batches = 0;
  uint64_t cache_hits = 0;    ///< inputs that were answered without a run; see Options::results
  uint64_t cache_misses = 0;  ///< inputs that were run, where there is a cache
  size_t cache_bytes = 0;     ///< of the answers that are kept
  /// How long the model has been running on a batch that was given up; 0: there is none.
  Clock::duration stuck_for{0};
};

/// Each element is made when its request is accepted, and goes from list to list: an answer needs
/// no memory to be given.
using Completions = std::list<Completion>;

/// Called on the machine's threads with what ended together: once a batch, not once a request. Must
/// not throw.
using CompletionHandler = std::function<void(Completions)>;

class CachedRuns;
class RequestQueue;
struct Request;
using Requests = std::list<Request>;

/// All public functions may be called from any thread. Every accepted request ends in exactly one
/// Completion, whatever happens, also when the engine is closed or aborted.
class Engine {
 public:
  /// Returns when each worker has prepared itself for the model, but for those that are at work on
  /// another, of which at least one has to come; one worker at a time while other models serve
  /// requests. Throws what that threw, or std::system_error where no thread could be had.
  Engine(std::shared_ptr<Machine> machine, std::shared_ptr<Backend> backend, Options options,
         CompletionHandler on_completions);
  ~Engine();  ///< abort()
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// All inputs or none; their tickets are first_ticket, first_ticket + 1 … Refused: no completion
  /// will come; none either where it throws, as of a signal that does not fit the model (what
  /// Backend::prepare() throws, for a model that needs no preparation) or std::bad_alloc.
  Admission submit(uint64_t first_ticket, std::vector<InputPtr> inputs, Clock::time_point deadline);

  /// The admission of one small input in the queue that is the shorter for now: that of short texts
  /// or that of long ones.
  Admission admission(Clock::time_point deadline) const;

  /// The caller no longer wants the answer: completes as kCancelled, unless it already runs. A
  /// request that is being prepared does so once it is, and does not run.
  void cancel(uint64_t ticket);

  Statistics statistics() const;

  /// Refuse new requests, run what was accepted. Blocks until done, but not for runs that were
  /// given up, nor once abort_within() is called.
  void close();

  /// From now on; see Options::share.
  void set_share(double share);

  /// Refuse new requests, complete what waits as kDraining.
  void drop();

  /// drop(), leave the machine after the batches that run. Blocks until done.
  void abort();

  /// The same, but waits no longer than `patience`, and not for runs that were given up. False:
  /// some thread has not come back, and the engine must live on until abort() has returned.
  bool abort_within(Clock::duration patience);

 private:
  friend class Machine;
  struct Part;
  struct Ran;

  std::condition_variable& arrived_changed(Lane lane) {
    return arrived_changed_.at(static_cast<size_t>(lane));
  }
  size_t threads_alone() const { return options_.workers * options_.threads_per_worker; }
  void prepare_worker(Machine::Worker& worker);
  std::optional<Clock::duration> measure(const PreparedInput& sample, size_t count,
                                         Machine::Worker& worker);
  bool prepare(Request& request) noexcept;
  bool run_batch(Requests& batch, Machine::Worker& worker);
  std::optional<Ran> run_together(Requests& batch, const Part& part,
                                  Machine::Worker& worker) noexcept;
  void end_as(Status status, Requests& requests) noexcept;
  void complete(Completions completions) noexcept;
  // With the machine's lock held:
  void give_up(Requests& batch, size_t place) noexcept;
  void leave();
  size_t given_up() const;

  const std::shared_ptr<Machine> machine_;
  const std::shared_ptr<Backend> backend_;
  const Description description_;
  const Options options_;
  const CompletionHandler on_completions_;
  const std::unique_ptr<CachedRuns> cached_;              ///< null: no answers are kept
  std::array<std::atomic<uint64_t>, kStatuses> ended_{};  ///< requests, those refused among them
  std::atomic<uint64_t> batches_{0};
  // Behind the machine's lock:
  const std::unique_ptr<RequestQueue> queue_;
  Completions ended_by_watchdog_;      ///< not yet handed on
  std::exception_ptr cannot_prepare_;  ///< of a worker
  size_t busy_ = 0;                    ///< threads of the machine that are at work on it
  double share_;                       ///< Options::share, or what has been set since
  double served_ = 0;                  ///< worker's time that it has had, in seconds for a share
  bool abandoned_ = false;             ///< nobody waits for all threads any more
  bool in_service_ = false;            ///< it has accepted requests
  bool leaves_ = false;                ///< its threads are to end
  std::array<std::condition_variable, 2> arrived_changed_;  ///< by lane
  std::vector<std::thread> tokenizers_;                     ///< a thread for each lane, or none
};

}  // namespace scheduler
