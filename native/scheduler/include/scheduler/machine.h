// The threads of a process that compute: one set for the engines of all its models.
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

class Engine;
enum class Lane;
enum class Priority;

/// Workers, which run batches, and a watchdog. Each engine has a queue of its own, and two threads
/// of its own that prepare inputs if they need it: a slow tokenizer delays its own model only. A
/// free worker takes its batch from the queue whose model has had least of the workers' time for
/// its share, and no engine has more workers at once than it asked for.
///
/// Workers start as engines ask for them: of each priority as many as the engine that asks for
/// most. A thread keeps its priority, so a model is run by workers of its own priority, in whatever
/// order models are loaded; at once run no more batches than the engine that asks for most may run.
/// Workers end with the machine. While there are other engines, a worker that a model does not give
/// back is replaced: none takes the others' workers for ever.
class Machine {
 public:
  Machine();
  ~Machine();  ///< Each engine holds its machine, so there is none.
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

 private:
  friend class Engine;
  struct Worker;
  using Lock = std::unique_lock<std::mutex>;
  /// By the number of threads.
  using ThreadPools = std::map<size_t, std::unique_ptr<ThreadPool>>;

  // All but the loops of the threads with the lock held:
  void add(Engine& engine, Lock& lock);
  void remove(Engine& engine, Lock& lock);
  bool is_ready_for(const Engine& engine) const;
  static bool is_lost(const Worker& worker);
  void start_workers(Priority priority);
  void replace_lost() noexcept;
  void start_others(Engine& engine);
  double work_beside(const Engine& engine) const;

  void work(Worker& worker);
  void wait(Worker& worker, Clock::time_point wake, Lock& lock);
  Worker* next_to_wake();
  bool wake_next();
  void wake_all();
  Engine* next_to_warm_up(const Worker& worker) const;
  Engine* most_behind(const Worker& worker, Clock::time_point& wake) const;
  bool is_left_to_others(const Engine& engine, const Worker& worker) const;
  void prepare(Worker& worker, Engine& engine, Lock& lock);
  void make_pools(Worker& worker, const Engine& engine, Lock& lock);
  void run(Worker& worker, Engine& engine, Lock& lock);
  void occupy(Worker& worker, Engine* engine, std::optional<size_t> place);
  void lend_pools();

  void prepare_inputs(Engine& engine, Lane lane);
  void prepare_next(Engine& engine, Lane lane, Lock& lock);

  void watch();
  Clock::time_point look_at_runs();

  std::mutex mutex_;                        ///< of all that is here, and of all queues
  std::condition_variable engine_changed_;  ///< for those who wait for an engine's begin or end
  std::condition_variable watch_changed_;
  std::vector<Engine*> engines_;
  std::list<Worker> workers_;
  std::thread watchdog_;
  size_t capacity_ = 0;  ///< batches at once, those that were given up not counted
  /// For a batch that runs alone, by the priority of its helpers. Null: being made.
  std::map<Priority, ThreadPools> shared_pools_;
  double virtual_time_ = 0;  ///< Engine::served_ of the model that ran last, before it did
  bool ending_ = false;
};

}  // namespace scheduler
