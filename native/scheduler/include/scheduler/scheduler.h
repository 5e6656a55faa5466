// The threads of the process that run models, shared by the queues of all models.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "scheduler/backend.h"

namespace scheduler {

using Clock = std::chrono::steady_clock;

class ModelQueue;
enum class TokenizationClass;
enum class Priority;

/// Workers, which run batches, and a watchdog. Each model has a queue and, if its inputs need
/// preparation, tokenization threads of its own, so a slow tokenizer delays only its own model: one
/// for each TokenizationClass, and more while inputs wait for them.
///
/// Fair share: a free worker runs the due batch of the model with the lowest virtual runtime, that
/// is consumed worker time divided by the model's weight. No model occupies more workers than its
/// Options::workers.
///
/// Workers start when a queue is added; for each thread priority there are as many as the maximum
/// of Options::workers. A model is run by workers of its own priority. Across priorities, the
/// number of concurrent batches is limited to the maximum of Options::workers. Workers end with the
/// scheduler. If several models are loaded, a hung worker is replaced.
class Scheduler {
 public:
  Scheduler();
  ~Scheduler();  ///< Every queue holds its scheduler, so no queue exists.
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// True if a model has accepted a request.
  bool is_in_service() const;

 private:
  friend class ModelQueue;
  struct Worker;
  struct Tokenizer;
  using Lock = std::unique_lock<std::mutex>;
  /// Pools by their number of threads.
  using ThreadPools = std::map<size_t, std::unique_ptr<ThreadPool>>;

  // Called with the lock held, except for work(), tokenize() and watch():
  void add(ModelQueue& queue, Lock& lock);
  void remove(ModelQueue& queue, Lock& lock);
  bool is_warmed_up(const ModelQueue& queue) const;
  static bool is_abandoned(const Worker& worker);
  void start_workers(Priority priority);
  void replace_abandoned() noexcept;
  void start_threads_of(ModelQueue& queue);
  double competing_seconds(const ModelQueue& queue) const;

  void work(Worker& worker);
  void wait(Worker& worker, Clock::time_point wake, Lock& lock);
  Worker* next_to_wake();
  bool wake_next();
  void wake_all();
  ModelQueue* next_model_to_warm_up(const Worker& worker) const;
  ModelQueue* pick_lowest_vruntime(const Worker& worker, Clock::time_point& wake) const;
  bool has_other_free_worker(const ModelQueue& queue, const Worker& worker) const;
  void warm_up(Worker& worker, ModelQueue& queue, Lock& lock);
  void create_thread_pools(Worker& worker, const ModelQueue& queue, Lock& lock);
  void run(Worker& worker, ModelQueue& queue, Lock& lock);
  void assign_worker(Worker& worker, ModelQueue* queue, std::optional<size_t> slot);
  void assign_thread_pools();

  void start_tokenizers(ModelQueue& queue);
  void start_tokenizer(ModelQueue& queue, TokenizationClass input_class);
  void add_tokenizer(ModelQueue& queue, TokenizationClass input_class) noexcept;
  void tokenize(ModelQueue& queue, Tokenizer& tokenizer);
  void tokenize_next(ModelQueue& queue, Tokenizer& tokenizer, Lock& lock);
  Clock::time_point check_tokenizers(ModelQueue& queue) noexcept;

  void watch();
  Clock::time_point check_runs();

  mutable std::mutex mutex_;  ///< guards the scheduler and all queues
  std::condition_variable
      queue_changed_;  ///< a queue is warmed up, has completed work, or is closed
  std::condition_variable watch_changed_;
  std::vector<ModelQueue*> queues_;
  std::list<Worker> workers_;
  std::thread watchdog_;
  size_t capacity_ = 0;  ///< maximum number of concurrent batches, without hung ones
  /// Pools with all cores, for a batch that runs alone; by the priority of their threads. A null
  /// pool is being created.
  std::map<Priority, ThreadPools> shared_pools_;
  /// System virtual time of start-time fair queueing: virtual runtime of the model that was
  /// dispatched last, at its dispatch.
  double virtual_time_ = 0;
  bool ending_ = false;
};

}  // namespace scheduler
