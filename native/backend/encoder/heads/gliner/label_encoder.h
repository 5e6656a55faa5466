// Vectors of labels, from an encoder of their own (bi-encoders of gliner).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backends.h"
#include "backend/model_input.h"
#include "checkpoint/weights.h"
#include "encoder/heads/gliner/label_cache.h"
#include "encoder/models/encoder.h"
#include "encoder/modules/module.h"
#include "tokenizers/bridge.h"

namespace backend::heads::gliner {

/// Maps a label to the mean of its hidden states. The vectors of recent labels are cached, because
/// most requests repeat the labels of earlier ones. Thread-safe.
/// Source: gliner, modeling/encoder.py (BiEncoder.encode_labels).
class LabelEncoder {
 public:
  /// Maximum number of tokens of the labels of an input, and of a run of the encoder.
  static constexpr size_t kMaxTokens = 8192;

  /// weights: of the whole model. Throws LoadError.
  LabelEncoder(const LabelEncoderSource& source, const Weights& weights);

  int64_t hidden_size() const { return encoder_->sizes().hidden_size; }

  /// Ids of each label, special tokens included. A label with more tokens than the encoder takes is
  /// truncated, as in gliner. Throws scheduler::InputTooLong if the labels have more than
  /// kMaxTokens, and scheduler::BackendError.
  std::vector<LabelIds> tokenize(const std::vector<std::string>& labels) const;

  /// Computes the vectors of labels for later requests, up to the size of the cache. Throws
  /// LoadError.
  void encode_ahead(const std::vector<std::string>& labels) const;

  /// float32 [labels, hidden_size]. A label without tokens is zeros, as in gliner.
  at::Tensor operator()(const std::vector<const LabelIds*>& labels) const;

 private:
  using Encoded = std::pair<const LabelIds*, at::Tensor>;

  std::vector<Encoded> encode_in_runs(std::span<const LabelIds* const> labels) const;
  void encode(std::span<const LabelIds* const> labels, std::vector<Encoded>& encoded) const;

  std::unique_ptr<models::Encoder> encoder_;
  std::unique_ptr<modules::Module> pooling_;
  rust::Box<tokenizers::Tokenizer> tokenizer_;
  mutable LabelCache cache_;
};

}  // namespace backend::heads::gliner
