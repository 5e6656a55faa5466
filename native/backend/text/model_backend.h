// The base class of all models.
#pragma once

#include <optional>
#include <vector>

#include "backend/model_input.h"
#include "scheduler/backend.h"

namespace backend {

/// A model of texts or signals. Converts between the scheduler's opaque inputs and our own types.
class ModelBackend : public scheduler::Backend {
 public:
  scheduler::PreparedPtr prepare(scheduler::InputPtr input) const final;
  scheduler::PreparedPtr prepare_thread(const scheduler::AssignedPool& pool) final;
  std::vector<scheduler::Output> run(scheduler::Batch batch,
                                     const scheduler::AssignedPool& pool) final;

  /// See Backend::prepare().
  virtual Sequence to_sequence(ModelInput input) const = 0;

  /// See Backend::prepare_thread().
  virtual Sequence warm_up(const scheduler::AssignedPool& pool) = 0;

  /// See Backend::run().
  virtual std::vector<scheduler::Output> run_batch(Batch batch,
                                                   const scheduler::AssignedPool& pool) = 0;
};

}  // namespace backend
