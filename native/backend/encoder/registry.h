// Which encoders there are, and what their checkpoints call the parts of every head.
#pragma once

#include <memory>
#include <string>

#include "encoder/heads/head.h"
#include "encoder/models/encoder.h"
#include "tokenizers/bridge.h"

namespace backend {

/// How the encoder of one "model_type" is loaded, and what its checkpoints call the rest.
struct Family {
  std::unique_ptr<models::Encoder> (*make_encoder)(const ModelConfig&, const Weights&);
  /// The attribute under which a model for a task holds its base model: base_model_prefix in
  /// transformers.
  const char* base_prefix;
  tokenizers::Family tokenizer_family;
  heads::HeadKeys heads;
};

/// Throws LoadError that lists the supported types.
const Family& family_of(const std::string& model_type);

}  // namespace backend
