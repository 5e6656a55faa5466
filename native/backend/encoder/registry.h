// Supported encoder architectures, and the keys of their checkpoints.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/original_names.h"
#include "encoder/heads/head.h"
#include "encoder/models/encoder.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Loader and checkpoint keys of a "model_type".
struct Family {
  std::unique_ptr<models::Encoder> (*make_encoder)(const ModelConfig&, const Weights&);
  /// base_model_prefix of transformers: the prefix of the base model's keys in a checkpoint with a
  /// task head.
  const char* base_prefix;
  tokenizers::Family tokenizer_family;
  heads::HeadKeys heads;
  bool is_static = false;          ///< static embeddings: texts have no special tokens
  NamesInTransformers names = {};  ///< names that adapters use instead of those of original code
};

/// Throws LoadError with the supported types if `model_type` is unknown.
const Family& family_of(const std::string& model_type);

}  // namespace backend
