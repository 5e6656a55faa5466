#include "encoder/shared_states.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace backend {
namespace {

/// Maximum size of the states that are kept for an encoder. Requests for one text arrive within
/// milliseconds, so a few batches are enough.
constexpr size_t kMaxRecentBytes = size_t{16} * 1024 * 1024;

/// A sequence as the encoder reads it: inputs with equal hashes have the same states.
class EncoderInput final : public scheduler::PreparedInput {
 public:
  EncoderInput(const Sequence& of, nn::OutputTokens outputs) : sequence(of), outputs_(outputs) {}

  size_t cost() const override { return sequence.input_ids.size(); }

  void add_to(scheduler::SipHash128& hash) const override {
    hash.add(static_cast<uint64_t>(outputs_));
    hash.add(sequence.unattended_expansion_tokens);
    hash.add(sequence.options_end);
    if (sequence.options_end > 0) {
      hash.add(sequence.markers.size());
      for (const size_t marker : sequence.markers) hash.add(marker);
    }
    hash.add(sequence.input_ids.size());
    for (const int64_t id : sequence.input_ids) hash.add(static_cast<uint64_t>(id));
    for (const int64_t type : sequence.token_type_ids) hash.add(static_cast<uint64_t>(type));
  }

  const Sequence& sequence;

 private:
  const nn::OutputTokens outputs_;
};

/// Rows of the states of each sequence, in the order of the batch that `packed` was made of.
std::vector<scheduler::Output> split(const at::Tensor& states, const nn::PackedBatch& packed,
                                     nn::OutputTokens outputs) {
  const at::Tensor contiguous = states.contiguous();
  const auto* row = contiguous.const_data_ptr<float>();
  std::vector<scheduler::Output> results(packed.order.size());
  for (size_t i = 0; i < packed.order.size(); ++i) {
    const int64_t rows =
        outputs == nn::OutputTokens::kClsOnly ? 1 : packed.cu_seqlens[i + 1] - packed.cu_seqlens[i];
    const auto* const end = row + rows * states.size(1);
    scheduler::Output& result = results[packed.order[i]];
    result.rows = static_cast<size_t>(rows);
    result.values.assign(row, end);
    row = end;
  }
  return results;
}

/// States by identity. Models hold them.
class AllStates {
 public:
  std::shared_ptr<SharedStates> find_or_add(const ContentHash::Hash& identity) {
    const std::lock_guard lock(mutex_);
    std::erase_if(states_, [](const auto& entry) { return entry.second.expired(); });
    auto& slot = states_[identity];
    if (auto other = slot.lock()) return other;
    auto added = std::make_shared<SharedStates>();
    slot = added;
    return added;
  }

 private:
  std::mutex mutex_;
  std::map<ContentHash::Hash, std::weak_ptr<SharedStates>> states_;
};

}  // namespace

SharedStates::SharedStates() : recent_(std::make_shared<scheduler::ResultCache>(kMaxRecentBytes)) {}

std::shared_ptr<SharedStates> share_states(const ContentHash::Hash& identity) {
  static auto* const states = new AllStates;  // models of other threads outlive statics
  return states->find_or_add(identity);
}

EncoderUse::EncoderUse(std::unique_ptr<const models::Encoder> encoder,
                       std::shared_ptr<SharedStates> shared, nn::OutputTokens outputs)
    : encoder_(std::move(encoder)),
      shared_(std::move(shared)),
      outputs_(outputs),
      runs_(shared_->recent_, /*number=*/0) {
  ++shared_->users_.at(static_cast<size_t>(outputs_));
}

EncoderUse::~EncoderUse() { --shared_->users_.at(static_cast<size_t>(outputs_)); }

at::Tensor EncoderUse::states(Batch batch, const nn::PackedBatch& packed) {
  const bool is_shared = shared_->users_.at(static_cast<size_t>(outputs_)) > 1;
  // A run that measures the model's speed must take its whole time.
  if (!is_shared || std::ranges::any_of(batch, &Sequence::is_warm_up)) {
    return (*encoder_)(packed, outputs_);
  }
  return join(states_by_sequence(batch), packed);
}

/// Rows of the output tokens of each sequence, in the order of the batch.
std::vector<scheduler::Output> EncoderUse::states_by_sequence(Batch batch) {
  std::vector<EncoderInput> inputs;
  inputs.reserve(batch.size());
  std::vector<const scheduler::PreparedInput*> pointers;
  pointers.reserve(batch.size());
  for (const Sequence* const sequence : batch) {
    pointers.push_back(&inputs.emplace_back(*sequence, outputs_));
  }
  const auto encode = [this](scheduler::Batch some) {
    std::vector<const Sequence*> sequences;
    sequences.reserve(some.size());
    for (const auto* const input : some) {
      sequences.push_back(&static_cast<const EncoderInput*>(input)->sequence);
    }
    const nn::PackedBatch packed(sequences);
    return split((*encoder_)(packed, outputs_), packed, outputs_);
  };
  bool computes_all = false;
  return runs_.run(pointers, encode, computes_all);
}

/// The result of states() from the rows of each sequence.
at::Tensor EncoderUse::join(std::span<const scheduler::Output> rows,
                            const nn::PackedBatch& packed) const {
  int64_t count = 0;
  for (const scheduler::Output& each : rows) count += static_cast<int64_t>(each.rows);
  at::Tensor states =
      at::empty({count, encoder_->sizes().hidden_size}, at::TensorOptions(at::kFloat));
  auto* to = states.mutable_data_ptr<float>();
  for (const size_t index : packed.order) to = std::ranges::copy(rows[index].values, to).out;
  return states;
}

}  // namespace backend
