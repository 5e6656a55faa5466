// A text model: tokenizer, encoder and head of a Hugging Face directory.
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <future>
#include <mutex>
#include <utility>

#include "backend/backends.h"
#include "encoder/registry.h"
#include "tokenizers/bridge.h"
#include "packed/numbers.h"
#include "packed/pool_in_use.h"
#include "runtime/runtime.h"
#include "text/late_reading.h"
#include "text/model_backend.h"
#include "text/tokenize.h"
#include "text/tokenizer_vocabulary.h"

namespace backend {
namespace {

/// A model of a directory: an encoder, the head of its task, and the tokenizer for what it reads.
struct TextModel {
  std::unique_ptr<models::Encoder> encoder;
  std::unique_ptr<heads::Head> head;
  rust::Box<tokenizers::Tokenizer> tokenizer;
  LateReading reading;
};

/// The tokenizer is read on a thread of its own, if one can be had, beside the weights; each takes
/// about as long. It learns at the end what the model's position table holds. When both fail, the
/// model's error is the one thrown.
TextModel load_text_model(const TextModelSource& source, const Numbers& numbers) {
  const Family& family = family_of(source.model_type);
  auto opening = std::async(std::launch::async | std::launch::deferred, [&] {
    return tokenizers::open_tokenizer(tokenizers::bytes(source.tokenizer_directory), family.tokenizer_family,
                              SIZE_MAX);
  });
  const auto checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(source.weight_files));
  const Weights weights(checkpoint, family.base_prefix, numbers);
  const Weights base = weights / family.base_prefix;
  auto encoder = family.make_encoder(source.config, base);
  const models::EncoderSizes sizes = encoder->sizes();
  const heads::HeadSource head_source{.config = source.config,
                                      .weights = weights,
                                      .base = base,
                                      .keys = family.heads,
                                      .hidden_size = sizes.hidden_size,
                                      .vocabulary_size = sizes.vocabulary_size};
  auto head =
      std::visit([&](const auto& what) { return heads::make(what, head_source); }, source.head);
  weights.require_all_used();
  checkpoint->release_pages();
  try {
    rust::Box<tokenizers::Tokenizer> tokenizer = opening.get();
    set_reading(*tokenizer, source.reading);
    for (const std::string& prefix : source.late_interaction.prefixes) {
      tokenizer->keep_whole(prefix);
    }
    tokenizer->limit(static_cast<size_t>(sizes.max_length));
    tokenizer->require_ids_below(static_cast<size_t>(sizes.vocabulary_size));
    LateReading reading(source.late_interaction, *tokenizer, static_cast<size_t>(sizes.max_length));
    return {std::move(encoder), std::move(head), std::move(tokenizer), std::move(reading)};
  } catch (const rust::Error& error) {
    throw LoadError(error.what());
  }
}

/// A tokenizer with more entries than the model has rows would read past the table.
void require_below(int64_t rows, const std::vector<int64_t>& entries, const char* what,
                   const char* all) {
  const auto highest = std::ranges::max_element(entries);
  if (highest == entries.end() || *highest < rows) return;
  throw scheduler::BackendError(std::string("the tokenizer gave the ") + what + " " +
                             std::to_string(*highest) + ", the model knows " + all + " below " +
                             std::to_string(rows));
}

/// Tokens of a prompt before a text, of which the last is left away where the tokenizer ends every
/// text with it. Source: sentence-transformers, base/modules/transformer.py (_get_prompt_length).
size_t count_prompt(const tokenizers::Tokenizer& tokenizer, const std::string& prompt) {
  if (prompt.empty()) return 0;
  const auto ids_of = [&](const std::string& text) {
    return tokenize(tokenizer, TextInput{.text = text}).input_ids;
  };
  const std::vector<int64_t> ids = ids_of(prompt), none = ids_of("");
  const bool has_end = !ids.empty() && !none.empty() && ids.back() == none.back();
  return ids.size() - (has_end ? 1 : 0);
}

/// Null if the input has no budget.
std::shared_ptr<OutputBudget> budget_of(const ModelInput& input) {
  if (const auto* const text = std::get_if<TextInput>(&input)) return text->budget;
  if (const auto* const tokens = std::get_if<TokenInput>(&input)) return tokens->budget;
  return nullptr;
}

/// Before anything is computed, and before there is memory for the answer.
void take_outputs(OutputBudget* budget, size_t tokens, int64_t columns) {
  if (budget == nullptr || budget->take(static_cast<int64_t>(tokens) * columns)) return;
  throw scheduler::InputTooLong("The response would have more than " + std::to_string(budget->limit) +
                             " numbers, the limit: " + std::to_string(columns) +
                             " for each token. Send fewer or shorter texts.");
}

class TextEncoderBackend final : public ModelBackend {
 public:
  explicit TextEncoderBackend(TextModel model) : model_(std::move(model)) {}

  const tokenizers::Tokenizer& tokenizer() const { return *model_.tokenizer; }

  scheduler::Description description() const override {
    return {.max_length = model_.tokenizer->max_length(),
            .batching = true,
            .needs_preparation = true,
            .uses_pool = true};
  }

  Sequence to_sequence(ModelInput input) const override {
    const auto* const text = std::get_if<TextInput>(&input);
    const std::string prompt = text != nullptr ? text->prompt : "";
    const auto budget = budget_of(input);
    const bool expands = text != nullptr && text->expand_query;
    const bool has_skiplist = text != nullptr && text->apply_skiplist;
    Sequence sequence = tokenize(*model_.tokenizer, std::move(input));
    if (sequence.is_windowed()) return sequence;
    sequence.prompt_tokens = count_prompt(*model_.tokenizer, prompt);
    // In a batch its first token would be another text's.
    if (sequence.input_ids.empty()) {
      throw scheduler::BackendError("the tokenizer leaves no token of the text");
    }
    if (expands) model_.reading.fill(sequence);
    if (has_skiplist) model_.reading.skip(sequence);
    take_outputs(budget.get(), sequence.input_ids.size() - sequence.skiplist_rows.size(),
                 model_.head->columns());
    const models::EncoderSizes sizes = model_.encoder->sizes();
    require_below(sizes.vocabulary_size, sequence.input_ids, "id", "ids");
    // A model with one token type cannot be asked of pairs by a tokenizer that tells two apart.
    if (sizes.token_types > 0) {
      require_below(sizes.token_types, sequence.token_type_ids, "token type", "types");
    }
    return sequence;
  }

  Sequence warm_up(const scheduler::AssignedPool& pool) override {
    // The first run on a thread sets up its allocator and kernels; no request should pay for it.
    Sequence sequence = to_sequence(TextInput{.text = std::string(kWarmUpText)});
    const Sequence* batch[] = {&sequence, &sequence};
    for (const auto& [values, rows] : run_batch(batch, pool)) {
      if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) continue;
      throw LoadError(
          "the weights, or numbers of config.json: the model answers a trial text with NaN or an "
          "infinity");
    }
    return sequence;
  }

  std::vector<scheduler::Output> run_batch(Batch batch, const scheduler::AssignedPool& pool) override {
    try {
      set_intra_op_threads(1);  // of LibTorch's own operators; the layers have the pool
      const PoolInUse in_use(pool);
      const c10::InferenceMode inference_mode;
      const nn::PackedBatch packed(batch);
      auto outputs =
          packed.outputs((*model_.head)((*model_.encoder)(packed, model_.head->reads()), packed));
      for (size_t i = 0; i < outputs.size(); ++i) leave_out(batch[i]->skiplist_rows, outputs[i]);
      return outputs;
    } catch (...) {
      throw scheduler::BackendError(message_of_current_exception());
    }
  }

 private:
  TextModel model_;
};

}  // namespace

LoadedModel load(const TextModelSource& source, const ComputeOptions& compute) {
  const Numbers numbers = choose_numbers(compute);
  set_intra_op_threads(1);  // no OpenMP team for a thread that only loads
  keep_memory_between_batches();
  const c10::InferenceMode inference_mode;
  try {
    TextModel model = load_text_model(source, numbers);
    give_back_free_memory();
    const auto columns = static_cast<size_t>(model.head->columns());
    const auto words = static_cast<size_t>(model.encoder->sizes().vocabulary_size);
    const auto backend = std::make_shared<TextEncoderBackend>(std::move(model));
    return {.backend = backend,
            .report = {.kind = "text-encoder",
                       .num_outputs = columns,
                       .vocabulary_size = words,
                       .multiplication = describe_multiplication(numbers.linear, numbers.attention),
                       .warnings = {},
                       .trial = {}},
            .vocabulary = std::make_shared<TokenizerVocabulary>(backend, backend->tokenizer())};
  } catch (const LoadError&) {
    throw;
  } catch (...) {
    throw LoadError(message_of_current_exception());
  }
}

}  // namespace backend
