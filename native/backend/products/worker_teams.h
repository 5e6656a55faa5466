// The threads that help each worker of a backend.
#pragma once

#include <memory>
#include <mutex>

#include "engine/backend.h"
#include "gemm/team.h"

namespace backend {

/// A team for each worker and, where a batch that runs alone may have more cores, one for such.
class WorkerTeams {
 public:
  WorkerTeams(int threads_per_worker, int threads_alone)
      : threads_per_worker_(threads_per_worker), threads_alone_(threads_alone) {}

  /// Once on each worker, so that the helpers have a worker's priority.
  void prepare_thread();

  /// Of the calling worker, for one batch; null: nobody helps.
  gemm::Team* team_for(engine::Cores cores) const;

 private:
  int threads_per_worker_;
  int threads_alone_;
  std::once_flag shared_team_made_;
  std::unique_ptr<gemm::Team> shared_team_;  ///< for the batch that runs alone, if any
};

}  // namespace backend
