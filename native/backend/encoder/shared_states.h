// Hidden states that models with equal encoders share.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encoder/models/encoder.h"
#include "runtime/content_hash.h"
#include "scheduler/cached_runs.h"

namespace backend {

/// The hidden states of recent texts while several models have equal encoders: a text that several
/// of them read is encoded once. Each model keeps its own encoder, and with it its files.
/// Thread-safe.
class SharedStates {
 public:
  SharedStates();

 private:
  friend class EncoderUse;

  std::array<std::atomic<int>, 2> users_{};               ///< models by nn::OutputTokens
  const std::shared_ptr<scheduler::ResultCache> recent_;  ///< states of recent texts
};

/// Returns the states of encoders with this identity. identity: hash of everything that the states
/// depend on, except the tokens. Thread-safe.
std::shared_ptr<SharedStates> share_states(const ContentHash::Hash& identity);

/// The encoder of one model. Thread-safe.
class EncoderUse {
 public:
  /// outputs: tokens that the model's head reads.
  EncoderUse(std::unique_ptr<const models::Encoder> encoder, std::shared_ptr<SharedStates> shared,
             nn::OutputTokens outputs);
  ~EncoderUse();
  EncoderUse(const EncoderUse&) = delete;
  EncoderUse& operator=(const EncoderUse&) = delete;

  /// Hidden states of the batch, in the order of `packed`; see models::Encoder. Waits if another
  /// thread encodes one of the sequences.
  at::Tensor states(Batch batch, const nn::PackedBatch& packed);

  /// Number of sequences of this model that were not encoded, because their states were known.
  uint64_t reused() const { return runs_.counts().hits; }

 private:
  std::vector<scheduler::Output> states_by_sequence(Batch batch);
  at::Tensor join(std::span<const scheduler::Output> rows, const nn::PackedBatch& packed) const;

  const std::unique_ptr<const models::Encoder> encoder_;
  const std::shared_ptr<SharedStates> shared_;
  const nn::OutputTokens outputs_;
  scheduler::CachedRuns runs_;
};

}  // namespace backend
