// A model whose answers are kept: what it has been asked before is not computed again.
#pragma once

#include <memory>
#include <vector>

#include "scheduler/backend.h"
#include "scheduler/result_cache.h"

namespace scheduler {

class CachedRuns {
 public:
  CachedRuns(std::shared_ptr<ResultCache> cache, std::shared_ptr<Backend> backend);
  ~CachedRuns();
  CachedRuns(const CachedRuns&) = delete;
  CachedRuns& operator=(const CachedRuns&) = delete;

  /// What the model has answered to the same before; null: nothing that is still kept.
  ResultCache::Answer find(const PreparedInput& input);

  /// As of Backend::run(), whose answers these are; the model runs what nobody else has run or is
  /// running. `computes_all`: it ran all of them, so that the time it took says something.
  std::vector<Output> run(Batch batch, const AssignedPool& pool, bool& computes_all);

  const ResultCache::Model& counts() const { return *model_; }

 private:
  struct Item;
  class Own;

  const std::shared_ptr<ResultCache> cache_;
  const std::shared_ptr<Backend> backend_;
  const std::shared_ptr<ResultCache::Model> model_;
};

}  // namespace scheduler
