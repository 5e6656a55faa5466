#include "products/worker_teams.h"

namespace backend {
namespace {

/// Of the worker that runs here, for every batch.
thread_local std::unique_ptr<gemm::Team> own_team;

}  // namespace

void WorkerTeams::prepare_thread() {
  own_team = std::make_unique<gemm::Team>(threads_per_worker_ - 1);
  std::call_once(shared_team_made_, [this] {
    if (threads_alone_ == threads_per_worker_) return;
    shared_team_ = std::make_unique<gemm::Team>(threads_alone_ - 1);
  });
}

gemm::Team* WorkerTeams::team_for(engine::Cores cores) const {
  const bool shared = cores == engine::Cores::kAll && shared_team_;
  return shared ? shared_team_.get() : own_team.get();
}

}  // namespace backend
