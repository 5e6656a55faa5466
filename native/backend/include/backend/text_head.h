// What follows an encoder: which head, and what the modules of sentence-transformers make of the
// states.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace backend {

/// How the states of a sequence's tokens become one, by the names of sentence-transformers: the
/// first token's, the largest of each number, the mean, the sum over the root of their count, the
/// mean weighted by position from 1 on, the last token's.
enum class PoolingMode { kCls, kMax, kMean, kMeanSqrtLength, kWeightedMean, kLastToken };

/// Several modes: their vectors side by side.
struct PoolingModule {
  std::vector<PoolingMode> modes;
  bool include_prompt = true;  ///< false: tokens of the prompt are left out
};

/// activation(x Wᵀ + b), and the input, projected where the sizes differ, added to it.
struct DenseModule {
  std::vector<std::string> weight_files;  ///< empty: its weights are among the encoder's
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool bias = true;
  std::string activation;  ///< as config.json of transformers would name it
  bool residual = false;
};

struct LayerNormModule {
  std::vector<std::string> weight_files;
  int64_t dimension = 0;
};

/// To a length of 1.
struct NormalizeModule {};

using Module = std::variant<PoolingModule, DenseModule, LayerNormModule, NormalizeModule>;

/// One row of logits for a text.
struct SequenceClassificationHead {};

/// One row of logits for each token.
struct TokenClassificationHead {};

/// SPLADE: over the vocabulary, the largest, or the sum, of log(1 + relu(logit)) of the tokens.
struct MaskedLmHead {
  bool sum = false;
  bool log_twice = false;  ///< log(1 + log(1 + relu(logit)))
};

/// What modules.json lists behind the encoder, in its order. Without a pooling a row for each
/// token.
struct EmbeddingHead {
  std::vector<Module> modules;
};

using TextHead =
    std::variant<SequenceClassificationHead, TokenClassificationHead, MaskedLmHead, EmbeddingHead>;

}  // namespace backend
