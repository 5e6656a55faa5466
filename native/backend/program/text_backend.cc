#include "program/text_backend.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones_like.h>

#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "hf/tokenizer.h"
#include "program/alike.h"
#include "program/served_program.h"
#include "program/text_inputs.h"
#include "program/text_probes.h"
#include "text/packed_batch.h"
#include "text/tokenize.h"

namespace backend {
namespace {

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

hf::Tokenizer open_tokenizer(const TextProgramSource& source) {
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

class TextBackend final : public engine::Backend {
 public:
  TextBackend(std::unique_ptr<Program> program, const TextProgramSource& source,
              const ComputeOptions& compute)
      : program_(std::move(program), std::filesystem::path(source.path).filename().string(),
                 compute),
        num_labels_(static_cast<int64_t>(source.num_labels)),
        tokenizer_(open_tokenizer(source)),
        inputs_(text_inputs_of(program_.inputs(), program_.file())) {
    batching_ = answers_alike_in_batches(answers_alone());
    program_.end_trial();
  }

  engine::Description description() const override {
    return {.backend = program_.kind(),
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
    program_.prepare_thread();
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
    return program_.limited([&] {
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
    });
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
    const at::Tensor logits = logits_of(program_.run(std::move(arguments)));
    if (logits.numel() != group.sequences * num_labels_) {
      throw engine::BackendError("the model gave " + std::to_string(logits.numel()) +
                                 " numbers for " + std::to_string(group.sequences) +
                                 " text(s), expected " + std::to_string(num_labels_) + " for each");
    }
    return logits.to(at::kFloat).contiguous();
  }

  struct Answered {
    std::vector<engine::Sequence> texts;
    std::vector<engine::Logits> logits;
  };

  /// Each probe alone. Throws LoadError: a model that was traced may work at one length only.
  Answered answers_alone() {
    Answered answered{
        .texts = probes([this](engine::Text text) { return prepare(std::move(text)); }),
        .logits = {}};
    std::set<size_t> works;
    std::optional<std::pair<size_t, std::string>> problem;
    for (const auto& text : answered.texts) {
      const engine::Sequence* batch[] = {&text};
      try {
        answered.logits.push_back(run(batch).front());
        works.insert(text.input_ids.size());
      } catch (const engine::RunTimeout&) {
        throw program_.too_slow_to_try();
      } catch (const engine::BackendError& error) {
        if (!problem) problem = {text.input_ids.size(), error.what()};
      }
    }
    if (!problem) return answered;
    std::string message = program_.file() + ": fails for a text of " +
                          std::to_string(problem->first) + " tokens: " + problem->second;
    if (!works.empty()) {
      message += "; it works for " + std::to_string(*works.begin()) +
                 " tokens: a traced model may take the length of its example only";
    }
    throw LoadError(message);
  }

  /// Whether texts of one length answer the same in a batch as alone: nothing in the file
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
            if (!alike_in_logits(alone.logits[begin + i], together[i])) return false;
          }
        }
      }
      return true;
    } catch (const engine::BackendError&) {
      return false;
    }
  }

  ServedProgram program_;
  int64_t num_labels_;
  hf::Tokenizer tokenizer_;
  std::vector<TextInput> inputs_;
  bool batching_ = false;
};

}  // namespace

std::shared_ptr<engine::Backend> serve_texts(std::unique_ptr<Program> program,
                                             const TextProgramSource& source,
                                             const ComputeOptions& compute) {
  return std::make_shared<TextBackend>(std::move(program), source, compute);
}

}  // namespace backend
