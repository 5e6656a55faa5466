#include "program/text_backend.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "hf/bridge.h"
#include "products/team_in_use.h"
#include "program/alike.h"
#include "program/served_program.h"
#include "program/signature.h"
#include "program/text_inputs.h"
#include "program/text_probes.h"
#include "program/text_rows.h"
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
hf::Family family_of(const std::string& directory) {
  const std::filesystem::path folder(directory);
  if (std::filesystem::exists(folder / "vocab.txt")) return hf::Family::Bert;
  if (std::filesystem::exists(folder / "merges.txt")) return hf::Family::Roberta;
  return hf::Family::Unknown;
}

/// `most`: tokens that the program takes.
rust::Box<hf::Tokenizer> open_tokenizer(const TextProgramSource& source, int64_t most) {
  try {
    auto tokenizer = hf::open_tokenizer(hf::bytes(source.tokenizer_directory),
                                        family_of(source.tokenizer_directory),
                                        std::min(source.position_limit, static_cast<size_t>(most)));
    // Without any limit one text could ask for more memory than there is.
    constexpr size_t kNoLimit = 1'000'000;
    if (tokenizer->max_length() >= kNoLimit) {
      throw LoadError(
          "tokenizer_config.json: model_max_length: expected the number of tokens that " +
          std::filesystem::path(source.path).filename().string() +
          " takes, as config.json has no max_position_embeddings");
    }
    return tokenizer;
  } catch (const rust::Error& error) {
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
        inputs_(text_inputs_of(program_.inputs(), program_.file())),
        tokenizer_(open_tokenizer(source, inputs_.length.most)),
        padding_id_(source.padding_id) {
    if (!padding_id_ && tokenizer_->padding_id() >= 0) padding_id_ = tokenizer_->padding_id();
    limits_.most_texts = static_cast<size_t>(inputs_.texts.most);
    limits_.least_texts = static_cast<size_t>(std::max<int64_t>(inputs_.texts.least, 1));
    limits_.least_length = static_cast<size_t>(inputs_.length.least);
    require_padding_where_needed();
    const Answered alone = answers_alone();
    batching_ = answers_alike_in_batches(alone) && limits_.most_texts > 1;
    if (batching_ && answers_alike_when_padded(alone)) limits_.company = Company::kCloseLengths;
    program_.end_trial();
  }

  engine::Description description() const override {
    return {.max_length = tokenizer_->max_length(),
            .batching = batching_,
            .needs_preparation = true,
            .uses_team = true};
  }

  ModelReport report() const {
    ModelReport report = program_.report(static_cast<size_t>(num_labels_));
    if (inputs_.texts.is_fixed()) {
      report.warnings.push_back(fixed_number_warning(program_.file(), inputs_.texts.most, "text"));
    }
    if (inputs_.length.is_fixed()) {
      report.warnings.push_back(
          program_.file() + ": was exported for texts of exactly " +
          std::to_string(inputs_.length.most) +
          " tokens: short ones take as long as long ones; scripts/export.py exports it for any "
          "length");
    }
    return report;
  }

  engine::Sequence prepare(engine::Input input) const override {
    return tokenize(*tokenizer_, std::get<engine::Text>(input));
  }

  std::optional<engine::Sequence> prepare_thread(gemm::Team* /*team*/) override {
    program_.prepare_thread();
    engine::Sequence sequence = prepare(engine::Text{.text = std::string(kWarmUpText)});
    const engine::Sequence* batch[] = {&sequence};
    run(batch);
    return sequence;
  }

  /// Texts of equal length share a call, or of close ones where padding changes no answer; the
  /// groups run one after the other. The team helps layers of ours; LibTorch's operators have
  /// threads of their own.
  std::vector<engine::Output> run(engine::Batch batch, gemm::Team* team) override {
    const TeamInUse in_use(team);
    return run(batch);
  }

  std::vector<engine::Output> run(engine::Batch batch) {
    return program_.limited([&] {
      std::vector<engine::Output> results(batch.size());
      for (const Rows& rows : rows_of(batch, limits_)) {
        const at::Tensor logits = forward(rows, batch);
        const auto* row = logits.const_data_ptr<float>();
        for (const size_t text : rows.texts) {
          results[text].values.assign(row, row + num_labels_);
          row += num_labels_;
        }
      }
      return results;
    });
  }

 private:
  /// float32 [rows, num_labels], contiguous.
  at::Tensor forward(const Rows& rows, engine::Batch batch) const {
    std::vector<c10::IValue> arguments;
    arguments.reserve(inputs_.in_order.size());
    for (const TextInput& input : inputs_.in_order) {
      arguments.emplace_back(values_of(input.role, rows, batch).to(input.type));
    }
    const at::Tensor logits = logits_of(program_.run(std::move(arguments)));
    const auto count = static_cast<int64_t>(rows.count);
    if (logits.numel() != count * num_labels_) {
      throw engine::BackendError("the model gave " + std::to_string(logits.numel()) +
                                 " numbers for " + std::to_string(count) + " text(s), expected " +
                                 std::to_string(num_labels_) + " for each");
    }
    return logits.to(at::kFloat).contiguous();
  }

  at::Tensor values_of(TextRole role, const Rows& rows, engine::Batch batch) const {
    switch (role) {
      case TextRole::kInputIds:
        return filled(rows, batch, &engine::Sequence::input_ids, padding_id_.value_or(0));
      case TextRole::kAttentionMask:
        return mask_of(rows, batch);
      case TextRole::kTokenTypeIds:
        return filled(rows, batch, &engine::Sequence::token_type_ids, 0);
    }
    return {};
  }

  /// Padding is told from text by the mask, and by models that classify by a text's last token by
  /// its id.
  bool can_pad() const { return inputs_.has(TextRole::kAttentionMask) && padding_id_.has_value(); }

  void require_padding_where_needed() const {
    if (limits_.least_length <= prepare(engine::Text{}).input_ids.size() || can_pad()) return;
    const bool has_mask = inputs_.has(TextRole::kAttentionMask);
    throw LoadError(program_.file() + ": takes texts of " + words_for(inputs_.length) +
                    " tokens, to which shorter ones have to be padded, but " +
                    (has_mask ? "neither config.json (pad_token_id) nor the tokenizer names a "
                                "token for padding"
                              : "it takes no attention_mask") +
                    "; scripts/export.py exports it for any length");
  }

  struct Answered {
    std::vector<engine::Sequence> texts;
    std::vector<engine::Output> logits;
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

  /// Whether a text answers the same beside others of any other length.
  bool answers_alike_when_padded(const Answered& alone) {
    // Whose file does not say that texts may be of any length may take the mask for something else.
    if (!can_pad() || !inputs_.says_sizes || inputs_.length.is_fixed()) return false;
    std::vector<const engine::Sequence*> texts;
    std::vector<engine::Output> expected;
    for (size_t i = 0; i < alone.texts.size(); ++i) {
      const size_t length = alone.texts[i].input_ids.size();
      if (!texts.empty() && texts.back()->input_ids.size() == length) continue;  // one of each
      texts.push_back(&alone.texts[i]);
      expected.push_back(alone.logits[i]);
    }
    limits_.company = Company::kAnyLengths;
    bool are_alike = false;
    try {
      are_alike = std::ranges::equal(run(texts), expected, alike_in_logits);
    } catch (const engine::BackendError&) {
      are_alike = false;
    }
    limits_.company = Company::kEqualLengths;
    return are_alike;
  }

  ServedProgram program_;
  int64_t num_labels_;
  TextInputs inputs_;
  rust::Box<hf::Tokenizer> tokenizer_;
  std::optional<int64_t> padding_id_;
  RowLimits limits_;
  bool batching_ = false;
};

}  // namespace

LoadedModel serve_texts(std::unique_ptr<Program> program, const TextProgramSource& source,
                        const ComputeOptions& compute) {
  const auto backend = std::make_shared<TextBackend>(std::move(program), source, compute);
  return {.backend = backend, .report = backend->report()};
}

}  // namespace backend
