// Runs with a result cache in front of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "scheduler/input.h"
#include "scheduler/result_cache.h"

namespace scheduler {

/// Runs only inputs whose output is neither cached nor being computed by another thread. Any thread
/// may call the public functions.
class CachedRuns {
 public:
  /// Computes an output for each input, in order.
  using Run = std::function<std::vector<Output>(Batch)>;

  /// number: see ResultCache::add_model().
  explicit CachedRuns(std::shared_ptr<ResultCache> cache,
                      std::optional<uint64_t> number = std::nullopt);
  ~CachedRuns();
  CachedRuns(const CachedRuns&) = delete;
  CachedRuns& operator=(const CachedRuns&) = delete;

  /// Returns null if the output is not cached.
  ResultCache::CachedOutput find(const PreparedInput& input);

  /// Returns the outputs of a batch, in order. computes_all: set to true if all inputs were passed
  /// to `run`. Throws what `run` throws.
  std::vector<Output> run(Batch batch, const Run& run, bool& computes_all);

  const ResultCache::Model& counts() const { return *model_; }

 private:
  struct Item;
  class InFlight;

  const std::shared_ptr<ResultCache> cache_;
  const std::shared_ptr<ResultCache::Model> model_;
};

}  // namespace scheduler
