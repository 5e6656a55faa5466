// The kinds of model that can be loaded, as engine backends.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/late_interaction.h"
#include "backend/model_config.h"
#include "backend/text_head.h"
#include "backend/text_reading.h"
#include "backend/vocabulary.h"
#include "scheduler/backend.h"
#include "kernels/format.h"

namespace backend {

/// A Hugging Face directory, its files already found.
struct TextModelSource {
  std::string model_type;  ///< config.json's "model_type"
  ModelConfig config;
  TextHead head;
  std::vector<std::string> weight_files;  ///< *.safetensors or *.bin, one or every shard
  std::string tokenizer_directory;
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  TextReading reading{};
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  LateInteraction late_interaction{};
};

/// A program (TorchScript, or what torch.export saved) that maps input_ids and attention_mask,
/// int64 [batch, length], to logits [batch, num_labels], or of each token [batch, length,
/// num_labels], behind a tokenizer.
struct TextProgramSource {
  std::string path;
  std::string tokenizer_directory;
  size_t num_labels = 0;
  size_t position_limit = 0;  ///< tokens, special ones included, that the configuration allows
  std::optional<int64_t> padding_id;  ///< config.json's; nothing: the tokenizer's own
  bool of_tokens = false;             ///< logits of each token
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  TextReading reading{};
};

/// A program that maps n windows, float32 each, to n × the number of classes.
struct SignalProgramSource {
  std::string path;
  size_t window_length = 0;  ///< samples
  /// Of a window, whose product is window_length; empty: as the file says, else [1, window_length].
  std::vector<int64_t> input_shape;
};

/// Numbers that are multiplied.
using Dtype = kernels::Format;

/// The values of the setting DTYPE.
std::vector<Dtype> dtypes();

/// The setting PRODUCTS: number format of attention if DTYPE is bfloat16 or int8. kAuto: by a table
/// of processors.
enum class ProductNumbers { kAuto, kFloat32, kBFloat16 };

/// In which numbers the linear layers of a text model multiply, and its attention. The rest, and
/// the classification head, is float32 always.
struct Numbers {
  Dtype linear = Dtype::kFloat32;
  Dtype attention = Dtype::kFloat32;
};

/// Why these settings are of no use on this processor: instructions are missing, or are known to be
/// slower than float32. Empty when they are of use.
std::string dtype_problem(Dtype dtype, ProductNumbers products);

/// What is wrong with the setting INSTRUCTIONS here; empty: nothing.
std::string instructions_problem();

/// The values of INSTRUCTIONS that this machine has, from the least to the most.
std::vector<std::string> available_instructions();

/// Whether a model that is being loaded runs, for whoever waits for it. Any thread.
class LoadProgress {
 public:
  using Clock = std::chrono::steady_clock;

  void began() { note(1); }
  void ended() { note(-1); }

  /// Whether code of the model has been running for so long without anything coming of it.
  bool runs_for(Clock::duration limit) const {
    return running_ > 0 && Clock::now().time_since_epoch() - Clock::duration(changed_) > limit;
  }

 private:
  void note(int change) {
    changed_ = Clock::now().time_since_epoch().count();
    running_ += change;
  }

  std::atomic<int> running_{0};
  std::atomic<Clock::rep> changed_{0};
};

/// What the process may compute with; the same for every model of it.
struct ComputeOptions {
  Dtype dtype = Dtype::kFloat32;
  ProductNumbers products = ProductNumbers::kAuto;
  int threads_per_worker = 1;  ///< of LibTorch's operators, on one batch of a program
  std::chrono::milliseconds run_limit{60'000};  ///< the longest that a run may take
  std::shared_ptr<LoadProgress> progress;       ///< told of runs
  std::set<std::string> allowed_operators;      ///< of programs, beside those of the list
};

/// The load error of a model that did not come back from being tried. `file`: its name.
std::string too_slow(const std::string& file, std::chrono::milliseconds limit);

/// What came of trying a signal model at load, on windows of noise and one of zeros, each alone:
/// nothing in its file says what it takes and gives.
struct Trial {
  std::vector<scheduler::Output> outputs;  ///< of the windows that ran
  std::string error;                    ///< of the first window that did not; empty: all ran
  bool repeatable = true;               ///< the same window, tried again, had the same answer
};

/// What multiplies, for the log, /info and metrics: of two models of which this and the files are
/// the same, the answers are.
struct Multiplication {
  std::string linear;        ///< numbers and kernel of the linear layers: "int8 avx512-vnni"
  std::string attention;     ///< the same of attention; empty: it is none of ours
  std::string instructions;  ///< that may be used: a value of the setting INSTRUCTIONS
};

/// What a load found out about a model, for people and for who reads its answers.
struct ModelReport {
  std::string kind;  ///< "text-encoder", "torchscript" or "exported"
  size_t num_outputs =
      0;  ///< numbers in a row of an answer; 0: a signal model of which no trial ran
  size_t vocabulary_size = 0;  ///< ids of tokens are below it; 0: no text model of ours
  Multiplication multiplication;
  std::vector<std::string> warnings;  ///< for the log, a line each: what is slower than it could be
  Trial trial;                        ///< empty for a text model
};

/// A model and what is known of it.
struct LoadedModel {
  std::shared_ptr<scheduler::Backend> backend;
  ModelReport report;
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::shared_ptr<const Vocabulary> vocabulary{};  ///< of a text model of ours
};

/// Each throws LoadError, or what the file made LibTorch throw translated into one.
LoadedModel load(const TextModelSource& source, const ComputeOptions& compute);
LoadedModel load(const TextProgramSource& source, const ComputeOptions& compute);
LoadedModel load(const SignalProgramSource& source, const ComputeOptions& compute);

/// Keeps the libraries inside LibTorch from instructions that would end the process here, and from
/// those that the setting INSTRUCTIONS does not allow. Before anything of this file computes; any
/// thread.
void limit_instructions();

/// Of LibTorch and of the tokenizers crate, for the log at start.
std::string libtorch_version();
std::string tokenizers_version();

}  // namespace backend
