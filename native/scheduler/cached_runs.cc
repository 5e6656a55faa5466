#include "scheduler/cached_runs.h"

#include <utility>

#include "scheduler/backend.h"

namespace scheduler {

/// An input of a batch.
struct CachedRuns::Item {
  const PreparedInput* input;
  ResultCache::Key key;
  Output* output;
};

/// The claims of one thread. The destructor releases claims without an output.
class CachedRuns::InFlight {
 public:
  explicit InFlight(CachedRuns& runs) : runs_(runs) {}
  ~InFlight() {
    for (const Item* const item : items_) runs_.cache_->release(item->key);
  }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  /// `steal`: also claims an output that another thread computes.
  ResultCache::Claim claim(Item& item, bool steal) {
    items_.reserve(items_.size() + 1);
    ResultCache::Claim claim = runs_.cache_->claim(item.key);
    if (steal && !claim.output) claim.is_own = true;
    if (claim.is_own) items_.push_back(&item);
    return claim;
  }

  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }

  void compute(const Run& run) {
    std::vector<const PreparedInput*> inputs;
    inputs.reserve(items_.size());
    for (const Item* const item : items_) inputs.push_back(item->input);
    std::vector<Output> outputs = run(inputs);
    if (outputs.size() != items_.size()) {
      throw BackendError("the model returned fewer outputs than inputs");
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

CachedRuns::CachedRuns(std::shared_ptr<ResultCache> cache, std::optional<uint64_t> number)
    : cache_(std::move(cache)), model_(cache_->add_model(number)) {}

CachedRuns::~CachedRuns() { cache_->remove(*model_); }

ResultCache::CachedOutput CachedRuns::find(const PreparedInput& input) {
  ResultCache::CachedOutput output = cache_->find(cache_->key_of(*model_, input));
  if (output) ++model_->hits;
  return output;
}

std::vector<Output> CachedRuns::run(Batch batch, const Run& run, bool& computes_all) {
  std::vector<Output> outputs(batch.size());
  std::vector<Item> items;
  items.reserve(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    items.push_back(
        {.input = batch[i], .key = cache_->key_of(*model_, *batch[i]), .output = &outputs[i]});
  }
  std::vector<Item*> remaining;
  remaining.reserve(items.size());
  for (Item& item : items) remaining.push_back(&item);
  size_t computed = 0;
  bool steal = false;
  while (!remaining.empty()) {
    InFlight own(*this);
    ResultCache::Claim foreign;
    std::vector<Item*> waiting;
    for (Item* const item : remaining) {
      const ResultCache::Claim claim = own.claim(*item, steal);
      if (claim.output) {
        *item->output = *claim.output;
        ++model_->hits;
      } else if (!claim.is_own) {
        waiting.push_back(item);
        foreign = claim;
      }
    }
    // Own claims are computed before waiting: two threads that wait for each other would deadlock.
    computed += own.size();
    model_->misses += own.size();
    if (!own.empty()) {
      own.compute(run);
    } else if (!waiting.empty()) {
      steal = !cache_->wait(foreign);
    }
    remaining = std::move(waiting);
  }
  computes_all = computed == batch.size();
  return outputs;
}

}  // namespace scheduler
