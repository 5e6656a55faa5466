// A TorchScript text classifier behind the tokenizer of a Hugging Face directory.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones_like.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include "backend/backends.h"
#include "hf/tokenizer.h"
#include "runtime/runtime.h"
#include "text/packed_batch.h"
#include "text/tokenize.h"
#include "torchscript/module.h"
#include "torchscript/run_limit.h"

namespace backend {
namespace {

/// What forward() takes, each int64 [batch, length].
enum class TextInput { kInputIds, kAttentionMask, kTokenTypeIds };

/// By the names of the arguments; where those say nothing, by their order.
std::vector<TextInput> inputs_of(const torch::jit::Module& module, const std::string& file) {
  using enum TextInput;
  std::vector<std::string> names;
  for (const auto& argument : module.get_method("forward").function().getSchema().arguments()) {
    if (!argument.default_value()) names.push_back(argument.name());
  }
  names.erase(names.begin());  // self
  const std::vector<TextInput> in_order{kInputIds, kAttentionMask, kTokenTypeIds};
  if (names.empty() || names.size() > in_order.size()) {
    throw LoadError(file + ": forward() takes " + std::to_string(names.size()) +
                    " arguments, expected (input_ids, attention_mask) or (input_ids, " +
                    "attention_mask, token_type_ids)");
  }
  std::vector<TextInput> named;
  for (const auto& name : names) {
    if (name == "input_ids") named.push_back(kInputIds);
    if (name == "attention_mask") named.push_back(kAttentionMask);
    if (name == "token_type_ids") named.push_back(kTokenTypeIds);
  }
  if (named.size() == names.size() && std::set(named.begin(), named.end()).size() == named.size()) {
    return named;
  }
  return {in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(names.size())};
}

/// The entry "logits" of a dictionary, or the one tensor there is.
at::Tensor logits_of(const c10::IValue& output) {
  if (output.isGenericDict()) {
    for (const auto& entry : output.toGenericDict()) {
      const bool is_logits = entry.key().isString() && entry.key().toStringRef() == "logits";
      if (is_logits && entry.value().isTensor()) return entry.value().toTensor();
    }
  }
  return single_tensor(output);
}

/// Used only where no file of the directory names a tokenizer class.
hf::TokenizerFamily family_of(const std::string& directory) {
  const std::filesystem::path folder(directory);
  if (std::filesystem::exists(folder / "vocab.txt")) return hf::TokenizerFamily::kBert;
  if (std::filesystem::exists(folder / "merges.txt")) return hf::TokenizerFamily::kRoberta;
  return hf::TokenizerFamily::kTokenizerJson;
}

hf::Tokenizer open_tokenizer(const TorchScriptTextSource& source) {
  try {
    auto tokenizer = hf::Tokenizer::open(
        source.tokenizer_directory, family_of(source.tokenizer_directory), source.position_limit);
    // Without any limit one text could ask for more memory than there is.
    constexpr size_t kNoLimit = 1'000'000;
    if (tokenizer.max_length() >= kNoLimit) {
      throw LoadError(
          "tokenizer_config.json: model_max_length: expected the number of tokens that " +
          std::filesystem::path(source.path).filename().string() +
          " takes, as config.json has no max_position_embeddings");
    }
    return tokenizer;
  } catch (const hf::Error& error) {
    throw LoadError(error.what());
  }
}

class TorchScriptTextBackend final : public engine::Backend {
 public:
  TorchScriptTextBackend(const TorchScriptTextSource& source, const ComputeOptions& compute)
      : tried_file_(std::filesystem::path(source.path).filename().string()),
        compute_(compute),
        num_labels_(static_cast<int64_t>(source.num_labels)),
        tokenizer_(open_tokenizer(source)),
        loaded_(load_torchscript_module(source.path, compute)),
        keeps_state_(keeps_state(loaded_.module)),
        inputs_(inputs_of(loaded_.module, tried_file_)) {
    set_up_torchscript_thread();
    batching_ = answers_alike_in_batches(answers_alone());
    tried_file_.clear();
  }

  engine::Description description() const override {
    return {.backend = "torchscript",
            .max_length = tokenizer_.max_length(),
            .num_outputs = static_cast<size_t>(num_labels_),
            .batching = batching_,
            .needs_preparation = true,
            .trial = {}};
  }

  engine::Sequence prepare(engine::Input input) const override {
    return tokenize(tokenizer_, std::get<engine::Text>(input));
  }

  std::optional<engine::Sequence> prepare_thread() override {
    set_intra_op_threads(compute_.threads_per_worker);
    set_up_torchscript_thread();
    engine::Sequence sequence = prepare(engine::Text{.text = std::string(kWarmUpText)});
    const engine::Sequence* batch[] = {&sequence};
    run(batch);
    return sequence;
  }

  /// Texts of equal length share a call, without padding; the groups run one after the other.
  std::vector<engine::Logits> run(engine::Batch batch, engine::Cores /*cores*/) override {
    return run(batch);
  }

  std::vector<engine::Logits> run(engine::Batch batch) {
    const RunLimit limit(compute_, tried_file_);
    try {
      const c10::InferenceMode inference_mode;
      const nn::PackedBatch packed(batch);
      std::vector<engine::Logits> results(batch.size());
      auto index = packed.order.begin();
      for (const auto& group : packed.groups) {
        const at::Tensor logits = forward(packed, group);
        const auto* row = logits.const_data_ptr<float>();
        for (int64_t i = 0; i < group.sequences; ++i, row += num_labels_) {
          results[*index++].assign(row, row + num_labels_);
        }
      }
      return results;
    } catch (const engine::BackendError&) {
      throw;
    } catch (...) {
      limit.throw_if_reached();
      throw engine::BackendError(message_of_current_exception());
    }
  }

 private:
  /// float32 [sequences, num_labels], contiguous.
  at::Tensor forward(const nn::PackedBatch& packed, const nn::LengthGroup& group) {
    const auto rows_of = [&group](const at::Tensor& tokens) {
      return tokens.narrow(0, group.first_token, group.sequences * group.length)
          .view({group.sequences, group.length});
    };
    const at::Tensor input_ids = rows_of(packed.input_ids);
    std::vector<c10::IValue> arguments;
    for (const TextInput input : inputs_) {
      if (input == TextInput::kInputIds) arguments.emplace_back(input_ids);
      if (input == TextInput::kAttentionMask) arguments.emplace_back(at::ones_like(input_ids));
      if (input == TextInput::kTokenTypeIds) arguments.emplace_back(rows_of(packed.token_type_ids));
    }
    // A copy shares the weights and has attributes of its own: no run sees the state of another.
    torch::jit::Module module = keeps_state_ ? loaded_.module.copy() : loaded_.module;
    const at::Tensor logits = logits_of(run_forward(module, std::move(arguments)));
    if (logits.numel() != group.sequences * num_labels_) {
      throw engine::BackendError("the model gave " + std::to_string(logits.numel()) +
                                 " numbers for " + std::to_string(group.sequences) +
                                 " text(s), expected " + std::to_string(num_labels_) + " for each");
    }
    return logits.to(at::kFloat).contiguous();
  }

  /// Texts for trying the model: three of each of four lengths, of which one is the longest that a
  /// text may have (up to a length that takes long to compute).
  std::vector<engine::Sequence> probes() const {
    constexpr size_t kLongest = 512;
    std::string words;
    for (size_t i = 0; i < kLongest; ++i) words += "one good film and a bad 7, ";
    std::vector<engine::Sequence> probes;
    const engine::Sequence longest = prepare(engine::Text{.text = words});
    const engine::Sequence empty = prepare(engine::Text{});
    const size_t specials = empty.input_ids.size();
    const size_t most = std::min(longest.input_ids.size(), kLongest);
    for (const size_t length :
         std::set<size_t>{std::min(specials + 1, most), std::min(specials + 4, most),
                          std::min(specials + 9, most), most}) {
      for (size_t turn = 0; turn < 3; ++turn) probes.push_back(cut(longest, length, turn));
    }
    return probes;
  }

  /// `length` tokens of a text, from its start and its end, the inner ones in another order.
  static engine::Sequence cut(const engine::Sequence& text, size_t length, size_t turn) {
    const auto head = static_cast<std::ptrdiff_t>(length / 2);
    const auto tail = static_cast<std::ptrdiff_t>(length) - head;
    const auto ends = [&](const std::vector<int64_t>& all) {
      std::vector<int64_t> some(all.begin(), all.begin() + head);
      some.insert(some.end(), all.end() - tail, all.end());
      return some;
    };
    engine::Sequence sequence{.input_ids = ends(text.input_ids),
                              .token_type_ids = ends(text.token_type_ids),
                              .samples = {}};
    if (length > 2) {
      std::rotate(sequence.input_ids.begin() + 1,
                  sequence.input_ids.begin() + 1 + static_cast<std::ptrdiff_t>(turn % (length - 2)),
                  sequence.input_ids.end() - 1);
    }
    return sequence;
  }

  struct Answered {
    std::vector<engine::Sequence> texts;
    std::vector<engine::Logits> logits;
  };

  /// Each probe alone. Throws LoadError: a model that was traced may work at one length only.
  Answered answers_alone() {
    Answered answered{.texts = probes(), .logits = {}};
    std::set<size_t> works;
    std::optional<std::pair<size_t, std::string>> problem;
    for (const auto& text : answered.texts) {
      const engine::Sequence* batch[] = {&text};
      try {
        answered.logits.push_back(run(batch).front());
        works.insert(text.input_ids.size());
      } catch (const engine::RunTimeout&) {
        throw LoadError(too_slow(tried_file_, compute_.run_limit));
      } catch (const engine::BackendError& error) {
        if (!problem) problem = {text.input_ids.size(), error.what()};
      }
    }
    if (!problem) return answered;
    std::string message = tried_file_ + ": fails for a text of " + std::to_string(problem->first) +
                          " tokens: " + problem->second;
    if (!works.empty()) {
      message += "; it works for " + std::to_string(*works.begin()) +
                 " tokens: a traced model may take the length of its example only";
    }
    throw LoadError(message);
  }

  /// Whether texts of one length answer the same in a batch as alone: nothing in a TorchScript file
  /// promises it (a traced model may take the batch size of its example only).
  bool answers_alike_in_batches(const Answered& alone) {
    std::vector<const engine::Sequence*> texts;
    texts.reserve(alone.texts.size());
    for (const auto& text : alone.texts) texts.push_back(&text);
    try {
      // Groups of two, then of three, and all lengths at once.
      for (const size_t size : {size_t{2}, size_t{3}, texts.size()}) {
        for (size_t begin = 0; begin + size <= texts.size(); begin += 3) {
          const auto together = run(engine::Batch(texts).subspan(begin, size));
          for (size_t i = 0; i < size; ++i) {
            if (!alike(alone.logits[begin + i], together[i])) return false;
          }
        }
      }
      return true;
    } catch (const engine::BackendError&) {
      return false;
    }
  }

  static bool alike(const engine::Logits& a, const engine::Logits& b) {
    constexpr float kTolerance = 2e-5F;
    float scale = 1.0F;
    for (const float logit : a) scale = std::max(scale, std::abs(logit));
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(std::abs(a[i] - b[i]) <= kTolerance * scale)) return false;  // also when one is NaN
    }
    return true;
  }

  std::string tried_file_;  ///< empty once the model has been tried
  ComputeOptions compute_;
  int64_t num_labels_;
  hf::Tokenizer tokenizer_;
  TorchScriptModule loaded_;
  bool keeps_state_;
  std::vector<TextInput> inputs_;
  bool batching_ = false;
};

}  // namespace

std::shared_ptr<engine::Backend> load_torchscript_text(const TorchScriptTextSource& source,
                                                       const ComputeOptions& compute) {
  set_intra_op_threads(compute.threads_per_worker);
  keep_memory_between_batches();
  if (compute.dtype != Dtype::kFloat32) {
    throw LoadError(std::filesystem::path(source.path).filename().string() +
                    ": a TorchScript model computes in the numbers it was saved with: "
                    "DTYPE must be float32");
  }
  try {
    return std::make_shared<TorchScriptTextBackend>(source, compute);
  } catch (const LoadError&) {
    throw;
  } catch (...) {
    throw LoadError(std::filesystem::path(source.path).filename().string() + ": " +
                    message_of_current_exception());
  }
}

}  // namespace backend
