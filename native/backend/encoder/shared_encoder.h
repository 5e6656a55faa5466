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
  /// A sequence, and the use of the model that reads it.
  struct Reader {
    EncoderUse* use;
    const Sequence* sequence;
  };

  /// outputs: tokens that the model's head reads.
  EncoderUse(std::shared_ptr<SharedEncoder> encoder, nn::OutputTokens outputs);
  ~EncoderUse();
  EncoderUse(const EncoderUse&) = delete;
  EncoderUse& operator=(const EncoderUse&) = delete;

  /// Models with the same value share the encoder and read the states of the same tokens.
  const void* group() const { return &encoder_->users_.at(static_cast<size_t>(outputs_)); }

  /// Hidden states of sequences of this model, in the order of `packed`; see models::Encoder. Waits
  /// if another thread encodes one of the sequences.
  at::Tensor states(Batch batch, const nn::PackedBatch& packed);

  /// Hidden states of the sequences of several models with the same group(), a row for each output
  /// token.
  std::vector<scheduler::Output> states_by_sequence(std::span<const Reader> readers) const;

  /// The result of states() from rows of states_by_sequence(), in the order of the batch.
  at::Tensor join(std::span<const scheduler::Output* const> rows,
                  const nn::PackedBatch& packed) const;

  /// Number of sequences of this model that were not encoded, because their states were known.
  uint64_t reused() const { return runs_.counts().hits; }

 private:
  const std::shared_ptr<SharedEncoder> encoder_;
  const nn::OutputTokens outputs_;
  scheduler::CachedRuns runs_;
};

}  // namespace backend
