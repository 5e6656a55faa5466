// Heads of text models, and modules of sentence-transformers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace backend {

/// Pooling modes of sentence-transformers: the first token's state, the maximum, the mean, the sum
/// divided by the square root of the number of tokens, the mean weighted by position (from 1), the
/// last token's state.
enum class PoolingMode { kCls, kMax, kMean, kMeanSqrtLength, kWeightedMean, kLastToken };

/// Several modes: their results are concatenated.
struct PoolingModule {
  std::vector<PoolingMode> modes;
  bool include_prompt = true;  ///< false: tokens of the prompt are excluded
};

/// activation(x Wᵀ + b), optionally plus the input (projected if the sizes differ).
struct DenseModule {
  std::vector<std::string> weight_files;  ///< empty: its weights are among the encoder's
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool bias = true;
  std::string activation;  ///< name as in config.json
  bool residual = false;
};

struct LayerNormModule {
  std::vector<std::string> weight_files;
  int64_t dimension = 0;
};

/// L2 normalization.
struct NormalizeModule {};

using Module = std::variant<PoolingModule, DenseModule, LayerNormModule, NormalizeModule>;

/// One row of logits for each text.
struct SequenceClassificationHead {};

/// One row of logits for each token.
struct TokenClassificationHead {};

/// SPLADE: maximum (or sum) over the tokens of log(1 + relu(logit)), for each entry of the
/// vocabulary.
struct MaskedLmHead {
  bool sum = false;
  bool log_twice = false;  ///< log(1 + log(1 + relu(logit)))
};

/// A token of the vocabulary: its id, or a text of which it is the first token.
using TokenName = std::variant<int64_t, std::string>;

/// Difference of the logits of two tokens after the text; without a false token the logit of the
/// true token.
struct LogitScoreHead {
  TokenName true_token;
  std::optional<TokenName> false_token;
};

/// The modules of modules.json after the encoder, in order. Without a pooling module there is a row
/// for each token.
struct EmbeddingHead {
  std::vector<Module> modules;
};

/// bge-m3: dense, sparse and ColBERT embeddings of one pass, see EmbeddingParts.
struct BgeM3Head {
  std::vector<std::string> sparse_files, colbert_files;  ///< weights of the two linear layers
  bool normalizes = true;                                ///< the dense embedding
};

/// How gliner represents the spans of words. kTokenLevel: scores of start, end and inside for each
/// word.
enum class SpanMode { kMarker, kMarkerV0, kMarkerV1, kMarkerV2, kTokenLevel };

/// GLiNER: spans of the words of an EntityInput, with a label and a score each.
struct GlinerHead {
  SpanMode mode = SpanMode::kMarkerV0;
  int64_t hidden_size = 0;  ///< of words and labels, projected from that of the encoder
  int64_t max_width = 0;    ///< words of a span
  int64_t lstm_layers = 0;  ///< 0: no LSTM over the words
};

/// How GLiNER2 derives the queries of labels: with a linear projection, a transformer over the
/// labels, or a mixture of experts.
enum class CountLayerType { kPlain, kTransformer, kMixture };

/// GLiNER2: a logit for each marker of a TokenInput, which is the token before a class. Of an
/// EntityInput spans of words, with a label and a score each, as GlinerHead.
struct Gliner2Head {
  std::optional<CountLayerType> counting;  ///< null: the model classifies only
  int64_t max_width = 0;                   ///< words of a span
  std::string classifier_output;           ///< key of the last layer of the classifier
  double temperature = 1;                  ///< by which logits of classes are divided
};

/// Laya: a logit for each marker of a TokenInput, then the probability that an agent should act.
/// question_type: 0 choice, 1 score, 2 noul.
struct LayaHead {
  int64_t layers = 2;   ///< transformer layers after the encoder
  int64_t actions = 1;  ///< outputs of the head for actions, the first one is to act
};

/// How GLiClass compares the vectors of a text and a label.
enum class LabelScorer { kDot, kWeightedDot, kMlp, kHopfield, kCrossAttention };

/// How GLiClass combines the states of a text's tokens. kNone: cross-attention reads all of them.
enum class TextPooling {
  kFirst,
  kLast,
  kMax,
  kMean,
  kSum,
  kRootMeanSquare,
  kAbsMax,
  kAbsMean,
  kNone
};

/// GLiClass: a logit for each label. Markers of a TokenInput: the token before each label, then the
/// separator after the last label.
struct GliclassHead {
  LabelScorer scorer = LabelScorer::kDot;
  TextPooling pooling = TextPooling::kFirst;
  /// The vector of a label is the mean from its marker to the next label, for the last label to the
  /// end of the sequence, or to the separator if text_from_separator is set. false: one token.
  bool averages_label = false;
  bool omits_label_token = false;  ///< the tokens of a label begin after its marker
  bool text_from_separator =
      false;                        ///< the text begins at the separator; false: at the first token
  bool has_lstm = false;            ///< a bidirectional LSTM reads the text's tokens
  bool normalizes = false;          ///< cosine similarity times a learned factor
  std::string activation = "gelu";  ///< of the projections, as in config.json
  int64_t hidden_size = 0;          ///< of the projections and of the scorer
  int64_t attention_heads = 16;     ///< of cross-attention
  int64_t mlp_size = 1024;          ///< of cross-attention
};

using TextHead =
    std::variant<SequenceClassificationHead, TokenClassificationHead, MaskedLmHead, LogitScoreHead,
                 EmbeddingHead, BgeM3Head, GlinerHead, Gliner2Head, LayaHead, GliclassHead>;

}  // namespace backend
