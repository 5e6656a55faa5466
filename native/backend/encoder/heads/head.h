#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/model_config.h"
#include "backend/text_head.h"
#include "checkpoint/weights.h"
#include "encoder/heads/transform.h"
#include "encoder/nn/attention.h"
#include "text/packed_batch.h"

namespace backend::heads {

namespace gliner {
class LabelEncoder;
}

/// Head of a task: maps hidden states to the model's output. Thread-safe.
class Head {
 public:
  virtual ~Head() = default;

  /// Tokens whose hidden states it reads.
  virtual nn::OutputTokens input_tokens() const = 0;

  /// Whether it returns a row for each chunk of a sequence (late chunking).
  virtual bool pools_chunks() const { return false; }

  /// Number of question types of a TokenInput with markers; 0: the head reads no markers.
  virtual size_t question_types() const { return 0; }

  /// Values in a row of the output.
  virtual int64_t columns() const = 0;

  /// hidden: float32 [tokens or sequences, hidden] → float32 [sequences, columns], or [tokens,
  /// columns] for heads with an output for each token. Rows are in packed order.
  virtual at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const = 0;

  /// Outputs of the sequences, in the order of `sequences`, without the rows on their skiplists.
  virtual std::vector<scheduler::Output> outputs(const at::Tensor& hidden,
                                                 const nn::PackedBatch& packed,
                                                 Batch sequences) const;
};

/// How the states of a sequence become one row of logits. kLate: the logits of all tokens are
/// averaged. kByConfig: classifier_pooling of config.json.
enum class ClassifierPooling { kFirst, kMean, kLate, kLast, kByConfig };

/// Keys of a transform followed by a linear layer.
struct SequenceClassificationKeys {
  TransformKeys transform;  ///< no transform if its dense key is null
  const char* output = "classifier";
  nn::Bias output_bias = nn::Bias::kYes;
  ClassifierPooling pooling = ClassifierPooling::kFirst;
  const char* default_pooling = "cls";  ///< of classifier_pooling
};

/// Keys of a linear layer, preceded by a transform in some architectures (ModernBERT).
struct TokenClassificationKeys {
  TransformKeys transform;  ///< no transform if its dense key is null
  const char* output = "classifier";
};

/// Keys of a transform followed by a linear layer, whose weight is the word embedding table unless
/// the file has another.
struct MaskedLmKeys {
  TransformKeys transform;
  const char* decoder;         ///< null: always the word embedding table
  const char* bias = nullptr;  ///< prefix of the bias if the decoder has none
  const char* bias_key =
      nullptr;  ///< config.json key that says whether there is a bias; null: there is one
  const char* word_embeddings = "embeddings.word_embeddings";  ///< key in the base model
};

/// Checkpoint keys of all heads of an architecture.
struct HeadKeys {
  SequenceClassificationKeys sequence_classification;
  MaskedLmKeys masked_lm;
  TokenClassificationKeys token_classification = {};
  /// Used if config.json has "legacy": false (DeBERTa); null: masked_lm is always used.
  const MaskedLmKeys* masked_lm_not_legacy = nullptr;
};

/// Inputs of a head's constructor.
struct HeadSource {
  const ModelConfig& config;
  const Weights& weights;  ///< of the whole checkpoint
  const Weights& base;     ///< of the base model
  const HeadKeys& keys;
  int64_t hidden_size;
  int64_t vocabulary_size;
  /// Id of the first token of a text; waits for the tokenizer.
  std::function<int64_t(const std::string&)> first_token_id;
  bool encoder_pools;                                         ///< see Encoder::pools_mean
  std::shared_ptr<const gliner::LabelEncoder> label_encoder;  ///< null: the model has none
};

/// Weights of the language-modeling decoder: its own, or the word embedding table that it shares.
Weights decoder_weights(const HeadSource& source, const MaskedLmKeys& keys);

// Each is defined in the file of the same name. All throw LoadError.
std::unique_ptr<Head> make(const SequenceClassificationHead& options, const HeadSource& source);
std::unique_ptr<Head> make(const TokenClassificationHead& options, const HeadSource& source);
std::unique_ptr<Head> make(const MaskedLmHead& options, const HeadSource& source);
std::unique_ptr<Head> make(const LogitScoreHead& options, const HeadSource& source);
std::unique_ptr<Head> make(const EmbeddingHead& options, const HeadSource& source);
std::unique_ptr<Head> make(const BgeM3Head& options, const HeadSource& source);
std::unique_ptr<Head> make(const GlinerHead& options, const HeadSource& source);
std::unique_ptr<Head> make(const Gliner2Head& options, const HeadSource& source);
std::unique_ptr<Head> make(const LayaHead& options, const HeadSource& source);
std::unique_ptr<Head> make(const GliclassHead& options, const HeadSource& source);

}  // namespace backend::heads
