#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "backend/model_config.h"
#include "checkpoint/weights.h"
#include "encoder/nn/attention.h"
#include "text/packed_batch.h"

namespace backend::models {

/// Which texts an encoder takes, and how wide its states are.
struct EncoderSizes {
  int64_t max_length;       ///< tokens of a text, special tokens included
  int64_t vocabulary_size;  ///< every id must be below
  int64_t token_types;      ///< every type must be below; 0: it reads none
  int64_t hidden_size;
};

/// From tokens to hidden states. What a task makes of them is a head's matter.
class Encoder {
 public:
  virtual ~Encoder() = default;

  virtual EncoderSizes sizes() const = 0;

  /// The last hidden states of the tokens that are asked for, float32 [tokens or sequences,
  /// hidden_size], rows in the packed order.
  virtual at::Tensor operator()(const nn::PackedBatch& batch, nn::Outputs outputs) const = 0;
};

// `weights`: those of the base model. Each throws LoadError. One file each, of the same name.
std::unique_ptr<Encoder> make_albert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_bert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_deberta_v2(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_distilbert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_electra(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_modernbert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_mpnet(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_roberta(const ModelConfig& config, const Weights& weights);

}  // namespace backend::models
