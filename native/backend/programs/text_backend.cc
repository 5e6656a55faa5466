#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "common/error.h"
#include "programs/program_backend.h"
#include "programs/report.h"
#include "programs/text_inputs.h"
#include "runtime/runtime.h"
#include "text/tokenize.h"
#include "tokenizers/bridge.h"

namespace backend {
namespace {

/// The entry "logits" of a dictionary, otherwise the only tensor.
at::Tensor logits_of(const c10::IValue& output) {
  if (output.isGenericDict()) {
    for (const auto& entry : output.toGenericDict()) {
      const bool is_logits = entry.key().isString() && entry.key().toStringRef() == "logits";
      if (is_logits && entry.value().isTensor()) return entry.value().toTensor();
    }
  }
  return single_tensor(output);
}

/// Tokenizer family if no file of the directory specifies the tokenizer class.
tokenizers::Family family_of(const std::string& directory) {
  const std::filesystem::path folder(directory);
  if (std::filesystem::exists(folder / "vocab.txt")) return tokenizers::Family::Bert;
  if (std::filesystem::exists(folder / "merges.txt")) return tokenizers::Family::Roberta;
  return tokenizers::Family::Unknown;
}

/// `most`: maximum tokens of the program.
rust::Box<tokenizers::Tokenizer> open_tokenizer(const TextProgramSource& source, int64_t most) {
  try {
    auto tokenizer = tokenizers::open_tokenizer(
        tokenizers::bytes(source.tokenizer_directory), family_of(source.tokenizer_directory),
        std::min(source.position_limit, static_cast<size_t>(most)));
    apply_options(*tokenizer, source.tokenization);
    // Without a limit, one text could exhaust the memory.
    constexpr size_t kNoLimit = 1'000'000;
    if (tokenizer->max_length() >= kNoLimit) {
      throw common::LoadError(
          "tokenizer_config.json: model_max_length: expected the number of tokens that " +
          std::filesystem::path(source.path).filename().string() +
          " takes, as config.json has no max_position_embeddings");
    }
    return tokenizer;
  } catch (const rust::Error& error) {
    throw common::LoadError(error.what());
  }
}

/// An excerpt of `length` tokens from the start and the end of a text. `turn` rotates the inner
/// tokens.
Sequence excerpt(const Sequence& text, size_t length, size_t turn) {
  const auto head = static_cast<std::ptrdiff_t>(length / 2);
  const auto tail = static_cast<std::ptrdiff_t>(length) - head;
  const auto ends = [&](const std::vector<int64_t>& all) {
    std::vector<int64_t> some(all.begin(), all.begin() + head);
    some.insert(some.end(), all.end() - tail, all.end());
    return some;
  };
  Sequence sequence{.input_ids = ends(text.input_ids),
                    .token_type_ids = ends(text.token_type_ids),
                    .samples = {}};
  if (length > 2) {
    std::rotate(sequence.input_ids.begin() + 1,
                sequence.input_ids.begin() + 1 + static_cast<std::ptrdiff_t>(turn % (length - 2)),
                sequence.input_ids.end() - 1);
  }
  return sequence;
}

/// Texts for the load-time check: three of each of four lengths, adjacent. The longest has the
/// maximum length, limited to 512 tokens. `tokenize`: converts a text to a sequence.
template <class Tokenize>
std::vector<Sequence> check_texts(const Tokenize& tokenize) {
  constexpr size_t kMaxLength = 512;
  std::string words;
  for (size_t i = 0; i < kMaxLength; ++i) words += "one good film and a bad 7, ";
  std::vector<Sequence> check_texts;
  const Sequence longest = tokenize(TextInput{.text = words});
  const Sequence empty = tokenize(TextInput{});
  const size_t specials = empty.input_ids.size();
  const size_t most = std::min(longest.input_ids.size(), kMaxLength);
  for (const size_t length :
       std::set<size_t>{std::min(specials + 1, most), std::min(specials + 4, most),
                        std::min(specials + 9, most), most}) {
    for (size_t turn = 0; turn < 3; ++turn) check_texts.push_back(excerpt(longest, length, turn));
  }
  return check_texts;
}

class TextBackend final : public ProgramBackend {
 public:
  TextBackend(std::unique_ptr<Program> program, const TextProgramSource& source,
              const ComputeOptions& compute)
      : ProgramBackend(std::move(program), source.path, compute),
        num_labels_(static_cast<int64_t>(source.num_labels)),
        per_token_(source.per_token),
        inputs_(text_inputs_of(this->program().inputs(), file())),
        tokenizer_(open_tokenizer(source, inputs_.length.max)),
        padding_id_(source.padding_id) {
    if (!padding_id_ && tokenizer_->pad_token_id() >= 0) padding_id_ = tokenizer_->pad_token_id();
    limit_batch(inputs_.texts, inputs_.texts.max);
    limits_.min_length = static_cast<size_t>(inputs_.length.min);
    require_padding_where_needed();
    const std::vector<Sequence> texts =
        check_texts([this](TextInput text) { return to_sequence(std::move(text)); });
    const std::vector<scheduler::Output> alone = outputs_alone(texts);
    batching_ = are_allclose_in_batches(texts, alone) && limits_.max_rows > 1;
    if (batching_ && are_allclose_when_padded(texts, alone)) {
      limits_.batching = Batching::kCloseLengths;
    }
    end_load_time_check();
  }

  const tokenizers::Tokenizer& tokenizer() const { return *tokenizer_; }

  scheduler::Description description() const override {
    return {.max_length = tokenizer_->max_length(),
            .batching = batching_,
            .needs_preparation = true,
            .uses_pool = true};
  }

  ModelReport report() const {
    ModelReport report = report_of(static_cast<size_t>(num_labels_), "text");
    if (inputs_.length.is_fixed()) {
      report.warnings.push_back(
          file() + ": was exported for texts of exactly " + std::to_string(inputs_.length.max) +
          " tokens: short ones take as long as long ones; scripts/export.py exports it for any "
          "length");
    }
    return report;
  }

  Sequence to_sequence(ModelInput input) const override {
    return tokenize(*tokenizer_, std::move(input));
  }

  Sequence warm_up(const scheduler::AssignedPool& /*pool*/) override {
    prepare_program();
    Sequence sequence = to_sequence(TextInput{.text = std::string(kWarmUpText)});
    const Sequence* batch[] = {&sequence};
    run_batch(batch);
    return sequence;
  }

 private:
  std::vector<c10::IValue> arguments(const RowGroup& rows, Batch batch) const override {
    std::vector<c10::IValue> arguments;
    arguments.reserve(inputs_.in_order.size());
    for (const TextTensor& input : inputs_.in_order) {
      arguments.emplace_back(values_of(input.role, rows, batch).to(input.type));
    }
    return arguments;
  }

  /// [rows, num_labels], or [rows, tokens, num_labels]
  at::Tensor extract_outputs(const c10::IValue& output, const RowGroup& rows) const override {
    at::Tensor logits = logits_of(output);
    const size_t batch_range = per_token_ ? rows.count * rows.length : rows.count;
    if (logits.numel() != static_cast<int64_t>(batch_range) * num_labels_) {
      throw scheduler::BackendError("the model returned " + std::to_string(logits.numel()) +
                                    " numbers for " + std::to_string(batch_range) +
                                    (per_token_ ? " token(s)" : " text(s)") + ", expected " +
                                    std::to_string(num_labels_) + " for each");
    }
    return logits;
  }

  /// Per-token outputs without the padding at the end.
  scheduler::Output row_output(std::span<const float> row, const Sequence& text) const override {
    if (!per_token_) return ProgramBackend::row_output(row, text);
    const size_t tokens = text.input_ids.size();
    const auto own = row.first(tokens * static_cast<size_t>(num_labels_));
    return {.values = {own.begin(), own.end()}, .rows = tokens};
  }

  at::Tensor values_of(TextRole role, const RowGroup& rows, Batch batch) const {
    switch (role) {
      case TextRole::kInputIds:
        return padded(rows, batch, &Sequence::input_ids, padding_id_.value_or(0));
      case TextRole::kAttentionMask:
        return attention_mask_of(rows, batch);
      case TextRole::kTokenTypeIds:
        return padded(rows, batch, &Sequence::token_type_ids, 0);
    }
    return {};
  }

  /// True if padding is possible: models distinguish padding by the mask, or by its id if they read
  /// the last token.
  bool can_pad() const { return inputs_.has(TextRole::kAttentionMask) && padding_id_.has_value(); }

  void require_padding_where_needed() const {
    if (limits_.min_length <= to_sequence(TextInput{}).input_ids.size() || can_pad()) return;
    const bool has_mask = inputs_.has(TextRole::kAttentionMask);
    throw common::LoadError(file() + ": takes texts of " + describe(inputs_.length) +
                            " tokens, to which shorter ones have to be padded, but " +
                            (has_mask
                                 ? "neither config.json (pad_token_id) nor the tokenizer names a "
                                   "token for padding"
                                 : "it takes no attention_mask") +
                            "; scripts/export.py exports it for any length");
  }

  /// Outputs of the texts, each run alone. Throws LoadError: a traced model may support only one
  /// length.
  std::vector<scheduler::Output> outputs_alone(const std::vector<Sequence>& texts) {
    std::vector<scheduler::Output> outputs;
    std::set<size_t> works;
    std::optional<std::pair<size_t, std::string>> problem;
    for (const auto& text : texts) {
      const Sequence* batch[] = {&text};
      try {
        outputs.push_back(run_batch(batch).front());
        works.insert(text.input_ids.size());
      } catch (const scheduler::RunTimeout&) {
        throw check_timed_out();
      } catch (const scheduler::BackendError& error) {
        if (!problem) problem = {text.input_ids.size(), error.what()};
      }
    }
    if (!problem) return outputs;
    std::string message = file() + ": fails for a text of " + std::to_string(problem->first) +
                          " tokens: " + problem->second;
    if (!works.empty()) {
      message += "; it works for " + std::to_string(*works.begin()) +
                 " tokens: a traced model may take the length of its example only";
    }
    throw common::LoadError(message);
  }

  /// True if texts of equal length have the same output in a batch as alone. The file does not
  /// guarantee it: a traced model may support only the batch size of its example.
  bool are_allclose_in_batches(const std::vector<Sequence>& texts,
                               std::span<const scheduler::Output> alone) {
    const std::vector<const Sequence*> batch = to_batch(texts);
    // Groups of two, groups of three, and all texts.
    for (const size_t size : {size_t{2}, size_t{3}, batch.size()}) {
      for (size_t begin = 0; begin + size <= batch.size(); begin += 3) {
        const Batch some = Batch(batch).subspan(begin, size);
        if (!matches(alone.subspan(begin, size), some, allclose_in_logits)) return false;
      }
    }
    return true;
  }

  /// True if texts have the same output when padded to any length.
  bool are_allclose_when_padded(const std::vector<Sequence>& texts,
                                const std::vector<scheduler::Output>& alone) {
    // Without sizes in the file, the mask may have another meaning.
    if (!can_pad() || !inputs_.has_sizes || inputs_.length.is_fixed()) return false;
    std::vector<const Sequence*> batch;
    std::vector<scheduler::Output> expected;
    for (size_t i = 0; i < texts.size(); ++i) {
      const size_t length = texts[i].input_ids.size();
      if (!batch.empty() && batch.back()->input_ids.size() == length)
        continue;  // one text of each length
      batch.push_back(&texts[i]);
      expected.push_back(alone[i]);
    }
    limits_.batching = Batching::kAnyLengths;
    const bool are_allclose = matches(expected, batch, allclose_in_logits);
    limits_.batching = Batching::kEqualLengths;
    return are_allclose;
  }

  int64_t num_labels_;
  bool per_token_;
  TextInputs inputs_;
  rust::Box<tokenizers::Tokenizer> tokenizer_;
  std::optional<int64_t> padding_id_;
  bool batching_ = false;
};

}  // namespace

LoadedModel serve_texts(std::unique_ptr<Program> program, const TextProgramSource& source,
                        const ComputeOptions& compute) {
  const auto backend = std::make_shared<TextBackend>(std::move(program), source, compute);
  return {.backend = backend,
          .report = backend->report(),
          .vocabulary = std::make_shared<TokenizerVocabulary>(backend, backend->tokenizer())};
}

}  // namespace backend
