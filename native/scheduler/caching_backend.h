// A backend with a result cache in front of it.
#pragma once

#include <memory>
#include <vector>

#include "scheduler/backend.h"
#include "scheduler/result_cache.h"

namespace scheduler {

/// Runs only inputs whose output is neither cached nor being computed by another thread.
class CachingBackend {
 public:
  CachingBackend(std::shared_ptr<ResultCache> cache, std::shared_ptr<Backend> backend);
  ~CachingBackend();
  CachingBackend(const CachingBackend&) = delete;
  CachingBackend& operator=(const CachingBackend&) = delete;

  /// Returns null if the output is not cached.
  ResultCache::CachedOutput find(const PreparedInput& input);

  /// Same contract as Backend::run(). `computes_all`: set to true if every input was run here, so
  /// that the elapsed time is a valid sample of the model's speed.
  std::vector<Output> run(Batch batch, const AssignedPool& pool, bool& computes_all);

  const ResultCache::Model& counts() const { return *model_; }

 private:
  struct Item;
  class InFlight;

  const std::shared_ptr<ResultCache> cache_;
  const std::shared_ptr<Backend> backend_;
  const std::shared_ptr<ResultCache::Model> model_;
};

}  // namespace scheduler
