#include "cached_runs.h"

#include <utility>

namespace scheduler {

/// One of a batch.
struct CachedRuns::Item {
  const PreparedInput* input;
  ResultCache::Key key;
  Output* output;
};

/// Claims that end, whatever happens.
class CachedRuns::Own {
 public:
  explicit Own(CachedRuns& runs) : runs_(runs) {}
  ~Own() {
    for (const Item* const item : items_) runs_.cache_->release(item->key);
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

  /// `in_any_case`: also what another computes.
  ResultCache::Claim claim(Item& item, bool in_any_case) {
    items_.reserve(items_.size() + 1);
    ResultCache::Claim claim = runs_.cache_->claim(item.key);
    if (in_any_case && !claim.known) claim.is_own = true;
    if (claim.is_own) items_.push_back(&item);
    return claim;
  }

  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }

  void compute(const AssignedPool& pool) {
    std::vector<const PreparedInput*> inputs;
    inputs.reserve(items_.size());
    for (const Item* const item : items_) inputs.push_back(item->input);
    std::vector<Output> outputs = runs_.backend_->run(inputs, pool);
    if (outputs.size() != items_.size()) {
      throw BackendError("the model left inputs unanswered");
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      runs_.cache_->publish(*runs_.model_, items_[i]->key, outputs[i]);
      *items_[i]->output = std::move(outputs[i]);
    }
    items_.clear();
  }

 private:
  CachedRuns& runs_;
  std::vector<Item*> items_;
};

CachedRuns::CachedRuns(std::shared_ptr<ResultCache> cache, std::shared_ptr<Backend> backend)
    : cache_(std::move(cache)), backend_(std::move(backend)), model_(cache_->add_model()) {}

CachedRuns::~CachedRuns() { cache_->remove(*model_); }

ResultCache::Answer CachedRuns::find(const PreparedInput& input) {
  ResultCache::Answer answer = cache_->find(cache_->key_of(*model_, input));
  if (answer) ++model_->hits;
  return answer;
}

std::vector<Output> CachedRuns::run(Batch batch, const AssignedPool& pool, bool& computes_all) {
  std::vector<Output> outputs(batch.size());
  std::vector<Item> items;
  items.reserve(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    items.push_back(
        {.input = batch[i], .key = cache_->key_of(*model_, *batch[i]), .output = &outputs[i]});
  }
  std::vector<Item*> left;
  left.reserve(items.size());
  for (Item& item : items) left.push_back(&item);
  size_t computed = 0;
  bool is_patient = true;
  while (!left.empty()) {
    Own own(*this);
    ResultCache::Claim of_another;
    std::vector<Item*> others;
    for (Item* const item : left) {
      const ResultCache::Claim claim = own.claim(*item, !is_patient);
      if (claim.known) {
        *item->output = *claim.known;
        ++model_->hits;
      } else if (!claim.is_own) {
        others.push_back(item);
        of_another = claim;
      }
    }
    // First what is one's own: two batches that wait for each other would wait for ever.
    computed += own.size();
    model_->misses += own.size();
    if (!own.empty()) {
      own.compute(pool);
    } else if (!others.empty()) {
      is_patient = cache_->wait(of_another);
    }
    left = std::move(others);
  }
  computes_all = computed == batch.size();
  return outputs;
}

}  // namespace scheduler
