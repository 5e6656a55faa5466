// The threads of a process that compute: one set for the engines of all its models.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/backend.h"

namespace engine {

using Clock = std::chrono::steady_clock;

class Engine;
enum class Lane;

/// Workers, which run batches, two threads that prepare inputs, and a watchdog. Each engine has a
/// queue of its own. A free worker takes its batch from the queue whose model has had least of the
/// workers' time for its share, and no engine has more workers at once than it asked for.
///
/// Threads start as engines ask for them: as many workers as the one that asks for most. They end
/// with the machine. While there are other engines, a worker that a model does not give back is
/// replaced: none takes the others' workers for ever.
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
  using ThreadPools = std::map<size_t, std::unique_ptr<gemm::ThreadPool>>;

  // All but the loops of the threads with the lock held:
  void add(Engine& engine, Lock& lock);
  void remove(const Engine& engine);
  bool is_ready_for(const Engine& engine) const;
  static bool is_lost(const Worker& worker);
  void start_workers(const Engine& engine);
  void replace_lost() noexcept;
  void start_others(const Engine& engine);
  double work_beside(const Engine& engine) const;

  void work(Worker& worker);
  Engine* unprepared(const Worker& worker) const;
  Engine* most_behind(const Worker& worker, Clock::time_point& wake) const;
  void prepare(Worker& worker, Engine& engine, Lock& lock);
  void run(Worker& worker, Engine& engine, Lock& lock);
  void occupy(Worker& worker, Engine* engine, std::optional<size_t> place);
  void lend_pools();
  static gemm::ThreadPool* pool_of(ThreadPools& pools, size_t threads);

  void prepare_inputs(Lane lane);
  void prepare_next(Engine& engine, Lane lane, Lock& lock);
  std::condition_variable& arrived_changed(Lane lane) {
    return arrived_changed_.at(static_cast<size_t>(lane));
  }

  void watch();
  Clock::time_point look_at_runs();

  std::mutex mutex_;  ///< of all that is here, and of all queues
  std::condition_variable work_changed_;
  std::array<std::condition_variable, 2> arrived_changed_;
  std::condition_variable engine_changed_;  ///< for those who wait for an engine's begin or end
  std::condition_variable watch_changed_;
  std::vector<Engine*> engines_;
  std::list<Worker> workers_;
  std::map<std::string, std::thread> others_;  ///< by their names
  size_t capacity_ = 0;       ///< batches at once, those that were given up not counted
  ThreadPools shared_pools_;  ///< for a batch that runs alone
  double virtual_time_ = 0;   ///< Engine::served_ of the model that ran last, before it did
  bool ending_ = false;
};

}  // namespace engine
