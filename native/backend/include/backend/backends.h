// Loading of models: sources, compute options and the loaded model.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/model_config.h"
#include "backend/text_head.h"
#include "backend/vocabulary.h"
#include "kernels/format.h"
#include "scheduler/backend.h"

namespace backend {

/// Fixed texts around the texts of a decoder that scores pairs, instead of special tokens. Each is
/// tokenized alone.
struct Frame {
  std::vector<std::string> before;
  std::vector<std::string> between;  ///< between the texts of a pair
  std::vector<std::string> after;
  /// Two texts: the end that their tokens share replaces the last tokens of each truncated single
  /// text. Empty: none.
  std::vector<std::string> kept_end;
  /// Maximum number of tokens, in addition to times_before and times_after times those of `before`
  /// and `after`; 0: the tokenizer's own limit, which counts all tokens.
  size_t max_length = 0;
  size_t times_before = 0;
  size_t times_after = 0;
};

/// Tokenization options that are not in the tokenizer's own files.
struct TokenizationOptions {
  std::optional<size_t>
      max_length;          ///< tokens, special tokens included; unset: the tokenizer's own limit
  bool lowercase = false;  ///< lowercases the text, except special tokens in it
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<Frame> frame{};
};

/// Query expansion and skiplist of late-interaction models (ColBERT), which compare the token
/// embeddings of a query with those of documents.
struct LateInteraction {
  size_t query_length = 0;            ///< tokens; 0: queries are not expanded
  std::string expansion_token;        ///< empty: the mask token, otherwise the end-of-text token
  bool attend_to_expansion = false;   ///< true: other tokens attend to expansion tokens
  std::vector<std::string> skiplist;  ///< document tokens without an embedding
  std::vector<std::string>
      prefixes;  ///< markers of queries and documents; never normalized or split
};

/// LoRA adapter of peft: low-rank updates of layers, and tensors that replace tensors of the base.
struct LoraAdapter {
  struct Layer {
    int64_t rank;
    double scale;  ///< factor of the update
  };

  std::string weight_file;  ///< path of adapter_model.safetensors
  /// Layers with an update, by module path as in the file, without "base_model.model.".
  std::map<std::string, Layer, std::less<>> layers;
};

/// LoRA factors of several tasks, [tasks, …], beside the weights that they update
/// (jina-embeddings-v3).
struct TaskAdapters {
  int64_t tasks;
  int64_t rank;
  double scale;                         ///< factor of the update
  std::optional<int64_t> default_task;  ///< task of inputs without a task; empty: no update
};

/// Prompt of an EntityInput: before each label the entity token, after the last one the separator.
/// With a label encoder there is no prompt, only windows.
struct EntityPrompt {
  std::string entity_token, separator;
  bool label_after_entity_token = false;  ///< the token after the entity token stands for the label
  size_t max_words = 0;                   ///< of a window
  size_t overlap = 0;                     ///< words that consecutive windows share
};

/// Windows of an EntityInput of GLiNER2, whose prompt is a schema.
struct SchemaPrompt {
  size_t max_words = 0;  ///< of a window
  size_t overlap = 0;    ///< words that consecutive windows share
};

/// A token that the inputs of a model contain.
struct RequiredToken {
  std::string text;
  std::optional<int64_t> id;  ///< id by the model's configuration; empty: any
};

/// Encoder of labels in the weight files of another model (bi-encoders of gliner).
struct LabelEncoderSource {
  std::string model_type;
  ModelConfig config;
  std::string base_prefix;  ///< prefix of its keys
  std::string tokenizer_directory;
  std::vector<std::string> labels;  ///< labels whose vectors are computed when the model loads
};

/// A Hugging Face model directory.
struct TextModelSource {
  std::string model_type;  ///< "model_type" of config.json
  ModelConfig config;
  TextHead head;
  std::vector<std::string> weight_files;  ///< paths of *.safetensors or *.bin, one or all shards
  std::string tokenizer_directory;
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  TokenizationOptions tokenization{};
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  LateInteraction late_interaction{};
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<LoraAdapter> adapter{};
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<TaskAdapters> task_adapters{};
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::string base_prefix{};  ///< prefix of the encoder's keys; empty: as in transformers
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<EntityPrompt> entity_prompt{};  ///< prompt of an EntityInput; null: none
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<SchemaPrompt> schema_prompt{};  ///< the same for GLiNER2
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<RequiredToken> required_tokens{};  ///< tokens that the tokenizer must have
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<LabelEncoderSource> label_encoder{};  ///< null: the prompt contains the labels
};

/// A program (TorchScript or torch.export) with a tokenizer. Inputs: input_ids and attention_mask,
/// int64 [batch, length]. Output: logits [batch, num_labels], or [batch, length, num_labels] if
/// `per_token`.
struct TextProgramSource {
  std::string path;
  std::string tokenizer_directory;
  size_t num_labels = 0;
  size_t position_limit = 0;          ///< maximum tokens by config.json, special tokens included
  std::optional<int64_t> padding_id;  ///< pad_token_id of config.json; unset: the tokenizer's
  bool per_token = false;             ///< logits of each token instead of each text
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  TokenizationOptions tokenization{};
};

/// An input of a program with the same value in every run, without the batch dimension.
struct ConstantInput {
  std::string name;            ///< of the input in the program
  std::vector<int64_t> shape;  ///< has the product values.size()
  std::vector<double> values;
};

/// A program that maps float32 windows [n, …] to n × classes.
struct SignalProgramSource {
  std::string path;
  size_t window_length = 0;  ///< samples
  /// Shape of a window, with the product window_length; empty: the shape in the file, otherwise [1,
  /// window_length].
  std::vector<int64_t> input_shape;
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<ConstantInput> constant_inputs{};  ///< all inputs except the windows
};

/// Data type of matrix multiplications.
using Dtype = kernels::Format;

/// Values of the setting DTYPE.
std::vector<Dtype> dtypes();

/// The setting ATTENTION_DTYPE: data type of attention if DTYPE is bfloat16 or int8. kAuto: depends
/// on the processor.
enum class AttentionPrecision { kAuto, kFloat32, kBFloat16 };

/// Data types in which a text model multiplies. Everything else, and the classification head, is
/// float32.
struct ComputeTypes {
  Dtype linear = Dtype::kFloat32;
  Dtype attention = Dtype::kFloat32;
};

/// Reason why these settings are not useful on this processor: instructions are missing, or slower
/// than float32. Empty if they are useful.
std::string dtype_problem(Dtype dtype, AttentionPrecision precision);

/// Problem of the setting INSTRUCTION_SET on this processor; empty: none.
std::string instructions_problem();

/// Values of INSTRUCTION_SET that this processor supports, ascending.
std::vector<std::string> available_instructions();

/// Whether a model that is being loaded is inside a run. Thread-safe.
class LoadProgress {
 public:
  using Clock = std::chrono::steady_clock;

  void run_started() { update(1); }
  void run_ended() { update(-1); }

  /// True if code of the model has been running for longer than `limit`, without a run starting or
  /// ending.
  bool is_running_longer_than(Clock::duration limit) const {
    return running_ > 0 && Clock::now().time_since_epoch() - Clock::duration(changed_) > limit;
  }

 private:
  void update(int change) {
    changed_ = Clock::now().time_since_epoch().count();
    running_ += change;
  }

  std::atomic<int> running_{0};
  std::atomic<Clock::rep> changed_{0};  ///< time of the last start or end of a run
};

/// Compute settings of the process, shared by all of its models.
struct ComputeOptions {
  Dtype dtype = Dtype::kFloat32;
  AttentionPrecision attention_precision = AttentionPrecision::kAuto;
  int threads_per_worker = 1;                   ///< intra-op threads of LibTorch, for programs
  std::chrono::milliseconds run_limit{60'000};  ///< maximum duration of a run
  std::shared_ptr<LoadProgress>
      progress;  ///< updated at each run of the load-time check; may be null
  std::set<std::string>
      allowed_operators;  ///< operators of programs, in addition to the allow-list
};

/// Message of the load error of a program that exceeded `limit` during its load-time check. `file`:
/// its name.
std::string run_limit_error(const std::string& file, std::chrono::milliseconds limit);

/// Result of the load-time check of a signal model: runs on single windows of noise and of zeros.
/// The file does not specify which inputs the model supports.
struct LoadTimeCheck {
  std::vector<scheduler::Output> outputs;  ///< outputs of the successful runs
  std::string error;                       ///< error of the first failed run; empty: all succeeded
  bool repeatable = true;                  ///< a second run of the same window had the same output
};

/// Kernels in use, for the log, /info and metrics. Models with equal files and equal kernels have
/// bitwise identical results.
struct KernelsInUse {
  std::string linear;        ///< data type and kernel of the linear layers: "int8 avx512-vnni"
  std::string attention;     ///< data type and kernel of attention; empty: LibTorch computes it
  std::string instructions;  ///< allowed instructions: a value of the setting INSTRUCTION_SET
};

/// Properties of a loaded model.
struct ModelReport {
  std::string kind;  ///< "text-encoder", "torchscript" or "exported"
  size_t num_outputs =
      0;  ///< values in an output row; 0: unknown, every run of the load-time check failed
  size_t vocabulary_size = 0;  ///< upper bound of token ids; 0: not a text encoder
  bool reads_lists = false;    ///< an input may be a TextList
  KernelsInUse kernels_in_use;
  std::vector<std::string> warnings;  ///< for the log, one line each
  LoadTimeCheck load_time_check;      ///< empty for text models
};

struct LoadedModel {
  std::shared_ptr<scheduler::Backend> backend;
  ModelReport report;
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::shared_ptr<const Vocabulary> vocabulary{};  ///< null for signal models
};

/// Loads a model. Throws LoadError; errors of LibTorch are converted to LoadError.
LoadedModel load(const TextModelSource& source, const ComputeOptions& compute);
LoadedModel load(const TextProgramSource& source, const ComputeOptions& compute);
LoadedModel load(const SignalProgramSource& source, const ComputeOptions& compute);

/// Disables instructions of the libraries inside LibTorch that the setting INSTRUCTION_SET
/// excludes, or that would crash on this machine. Call it before anything of this file computes.
/// Thread-safe.
void limit_instructions();

/// Returns memory that malloc has cached to the system. Call it after loading or unloading a model.
/// Takes some milliseconds. Thread-safe.
void release_free_memory();

/// Versions of LibTorch and of the tokenizers crate, for the log.
std::string libtorch_version();
std::string tokenizers_version();

}  // namespace backend
