// Encoders that several models share.
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

/// An encoder, and the hidden states of recent texts while several models use it: a text that
/// several of them read is encoded once. Thread-safe.
class SharedEncoder {
 public:
  explicit SharedEncoder(std::unique_ptr<const models::Encoder> encoder);

  models::EncoderSizes sizes() const { return encoder_->sizes(); }
  bool pools_mean() const { return encoder_->pools_mean(); }

 private:
  friend class EncoderUse;

  const std::unique_ptr<const models::Encoder> encoder_;
  std::array<std::atomic<int>, 2> users_{};               ///< models by nn::OutputTokens
  const std::shared_ptr<scheduler::ResultCache> recent_;  ///< states of recent texts
};

/// Returns the encoder with this identity: one that another model of the process uses, or
/// `encoder`. identity: hash of everything that the states depend on, except the tokens.
/// Thread-safe.
std::shared_ptr<SharedEncoder> share_encoder(const ContentHash::Hash& identity,
                                             std::unique_ptr<const models::Encoder> encoder);

/// The use of an encoder by one model. Thread-safe.
class EncoderUse {
 public:
  /// outputs: tokens that the model's head reads.
  EncoderUse(std::shared_ptr<SharedEncoder> encoder, nn::OutputTokens outputs);
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

  const std::shared_ptr<SharedEncoder> encoder_;
  const nn::OutputTokens outputs_;
  scheduler::CachedRuns runs_;
};

}  // namespace backend
