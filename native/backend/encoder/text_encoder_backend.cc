// Text encoders: tokenizer, encoder and head of a Hugging Face model directory.
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "backend/backends.h"
#include "common/error.h"
#include "encoder/nn/task_rows.h"
#include "encoder/text_model.h"
#include "packed/parallel_for.h"
#include "runtime/compute_types.h"
#include "runtime/runtime.h"
#include "text/chunks.h"
#include "text/model_backend.h"
#include "text/text_list.h"
#include "text/tokenize.h"
#include "tokenizers/bridge.h"

namespace backend {
namespace {

/// Throws BackendError unless the sequence has markers exactly if the head reads them. Inputs of
/// entities have none.
void require_markers(const Sequence& sequence, size_t question_types) {
  const bool has_none = sequence.markers.empty() && sequence.question_type == 0;
  if (has_none && (question_types == 0 || sequence.entities)) return;
  if (question_types == 0) throw scheduler::BackendError("markers: the model reads no markers");
  if (sequence.markers.empty()) {
    throw scheduler::BackendError("markers: the model answers questions, expected at least one");
  }
  if (sequence.question_type < question_types) return;
  throw scheduler::BackendError("questionType: expected less than " +
                                std::to_string(question_types) + ", received " +
                                std::to_string(sequence.question_type));
}

/// Throws BackendError if an id is not below the number of rows: the lookup would read past the end
/// of the table.
void require_below(int64_t rows, const std::vector<int64_t>& entries, const char* what,
                   const char* all) {
  const auto highest = std::ranges::max_element(entries);
  if (highest == entries.end() || *highest < rows) return;
  throw scheduler::BackendError(std::string("the tokenizer returned ") + what + " " +
                                std::to_string(*highest) + ", but the model supports " + all +
                                " below " + std::to_string(rows));
}

/// Number of tokens of a prompt, without the end-of-text token.
/// Source: sentence-transformers, base/modules/transformer.py (_get_prompt_length).
size_t count_prompt_tokens(const tokenizers::Tokenizer& tokenizer, const std::string& prompt) {
  if (prompt.empty()) return 0;
  const auto ids_of = [&](const std::string& text) {
    return tokenize(tokenizer, TextInput{.text = text}).input_ids;
  };
  const std::vector<int64_t> ids = ids_of(prompt), none = ids_of("");
  const bool has_end = !ids.empty() && !none.empty() && ids.back() == none.back();
  return ids.size() - (has_end ? 1 : 0);
}

/// Task whose LoRA update applies to the input; empty: none. Throws BackendError for an unknown
/// task.
std::optional<int64_t> adapter_task_of(const ModelInput& input,
                                       const std::optional<TaskAdapters>& adapters) {
  std::optional<int64_t> given;
  if (const auto* const text = std::get_if<TextInput>(&input)) given = text->adapter_task;
  if (const auto* const tokens = std::get_if<TokenInput>(&input)) given = tokens->adapter_task;
  const int64_t tasks = adapters ? adapters->tasks : 0;
  if (given && *given >= tasks) {
    throw scheduler::BackendError("adapterTask: expected less than " + std::to_string(tasks) +
                                  ", received " + std::to_string(*given));
  }
  return given || !adapters ? given : adapters->default_task;
}

/// Null if the input has no budget.
std::shared_ptr<OutputBudget> budget_of(const ModelInput& input) {
  if (const auto* const text = std::get_if<TextInput>(&input)) return text->budget;
  if (const auto* const tokens = std::get_if<TokenInput>(&input)) return tokens->budget;
  if (const auto* const entities = std::get_if<EntityInput>(&input)) return entities->budget;
  return nullptr;
}

/// Reserves the output values, before anything is computed or allocated for them. Throws
/// InputTooLong.
void reserve_outputs(OutputBudget* budget, size_t tokens, int64_t columns) {
  if (budget == nullptr || budget->take(static_cast<int64_t>(tokens) * columns)) return;
  throw scheduler::InputTooLong("The response would have more than " +
                                std::to_string(budget->limit) +
                                " numbers, the limit: " + std::to_string(columns) +
                                " for each token. Send fewer or shorter texts.");
}

class TextEncoderBackend final : public ModelBackend {
 public:
  explicit TextEncoderBackend(TextModel model) : model_(std::move(model)) {}

  const tokenizers::Tokenizer& tokenizer() const { return *model_.tokenizer; }
  bool reads_lists() const { return model_.reads_lists; }

  scheduler::Description description() const override {
    return {.max_length = model_.tokenizer->max_length(),
            .batching = true,
            .needs_preparation = true,
            .uses_pool = true};
  }

  Sequence to_sequence(ModelInput input) const override {
    if (const auto* const list = std::get_if<TextList>(&input)) return list_sequence(*list);
    const auto* const text = std::get_if<TextInput>(&input);
    const std::string prompt = text != nullptr ? text->prompt : "";
    const auto budget = budget_of(input);
    const bool expands = text != nullptr && text->expand_query;
    const auto* const tokens = std::get_if<TokenInput>(&input);
    const bool has_skiplist =
        text != nullptr ? text->apply_skiplist : tokens != nullptr && tokens->apply_skiplist;
    std::optional<EmbeddingParts> parts;
    if (text != nullptr) parts = text->parts;
    if (tokens != nullptr) parts = tokens->parts;
    const auto adapter_task = adapter_task_of(input, model_.task_adapters);
    Sequence sequence = tokenize_input(std::move(input));
    if (sequence.is_response()) return sequence;
    sequence.adapter_task = adapter_task;
    require_markers(sequence, model_.head->question_types());
    sequence.prompt_tokens = count_prompt_tokens(*model_.tokenizer, prompt);
    sequence.parts = parts;
    const models::EncoderSizes& sizes = model_.sizes;
    // An empty sequence has no first token: classification heads would read the next sequence's.
    if (sequence.input_ids.empty() && sizes.empty_id) {
      sequence.input_ids = {*sizes.empty_id};
      sequence.token_type_ids = {0};
      return sequence;
    }
    if (sequence.input_ids.empty()) {
      throw scheduler::BackendError("the tokenizer returned no tokens for the text");
    }
    if (expands) model_.colbert.expand_query(sequence);
    if (has_skiplist) model_.colbert.apply_skiplist(sequence);
    reserve_outputs(budget.get(), sequence.input_ids.size() - sequence.skiplist_rows.size(),
                    model_.head->columns());
    require_below(sizes.vocabulary_size, sequence.input_ids, "id", "ids");
    // A model without token types accepts pairs from a tokenizer that has token types.
    if (sizes.token_types > 0) {
      require_below(sizes.token_types, sequence.token_type_ids, "token type", "types");
    }
    return sequence;
  }

  Sequence warm_up(const scheduler::AssignedPool& pool) override {
    // The first run on a thread initializes its allocator and kernels, which is too slow for a
    // request.
    Sequence sequence = to_sequence(warm_up_input());
    sequence.is_warm_up = true;
    const Sequence* batch[] = {&sequence, &sequence};
    for (const auto& [values, rows] : run_batch(batch, pool)) {
      if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) continue;
      throw common::LoadError(
          "the weights, or numbers of config.json: the model returns NaN or infinity for the "
          "warm-up text");
    }
    return sequence;
  }

  uint64_t reused_states() const override { return model_.encoder->reused(); }

  std::vector<scheduler::Output> run_batch(Batch batch,
                                           const scheduler::AssignedPool& pool) override {
    try {
      set_intra_op_threads(1);  // for LibTorch's operators; our layers use the pool
      const ScopedThreadPool scoped_pool(pool);
      const c10::InferenceMode inference_mode;
      const nn::PackedBatch packed(batch);
      const nn::ScopedTasks tasks(packed);
      return model_.head->outputs(model_.encoder->states(batch, packed), packed, batch);
    } catch (...) {
      throw scheduler::BackendError(message_of_current_exception());
    }
  }

 private:
  /// An input that the head computes completely.
  ModelInput warm_up_input() const {
    const std::string text(kWarmUpText);
    if (model_.entity_prompt || model_.schema_prompt) {
      return EntityInput{.text = text, .labels = {"label"}, .task = "entities"};
    }
    if (model_.head->question_types() == 0) return TextInput{.text = text};
    Sequence tokens = tokenize(*model_.tokenizer, TextInput{.text = text});
    const size_t last = tokens.input_ids.empty() ? 0 : tokens.input_ids.size() - 1;
    TokenInput input{.ids = std::move(tokens.input_ids), .types = std::move(tokens.token_type_ids)};
    input.markers = last == 0 ? std::vector<size_t>{0} : std::vector<size_t>{0, last};
    return input;
  }

  Sequence list_sequence(const TextList& list) const {
    const models::EncoderSizes& sizes = model_.sizes;
    if (!model_.reads_lists || !sizes.empty_id) {
      throw scheduler::BackendError("texts: the model reads a text at a time");
    }
    Sequence sequence = tokenize_list(*model_.tokenizer, list, *sizes.empty_id);
    require_below(sizes.vocabulary_size + 1, sequence.input_ids, "id", "ids");  // and empty_id
    return sequence;
  }

  Sequence tokenize_input(ModelInput input) const {
    if (const auto* const entities = std::get_if<EntityInput>(&input)) {
      if (model_.schema_prompt) {
        return tokenize_schema(*model_.tokenizer, *model_.schema_prompt, *entities);
      }
      if (!model_.entity_prompt) throw scheduler::BackendError("the model finds no entities");
      TokenizeLabels tokenize_labels;
      if (const auto* const labels = model_.label_encoder.get()) {
        tokenize_labels = [labels](const auto& texts) { return labels->tokenize(texts); };
      }
      return tokenize_entities(*model_.tokenizer, *model_.entity_prompt, tokenize_labels, *entities,
                               static_cast<size_t>(model_.sizes.vocabulary_size));
    }
    const auto* const text = std::get_if<TextInput>(&input);
    if (text == nullptr || text->chunk_ends.empty()) {
      return tokenize(*model_.tokenizer, std::move(input));
    }
    if (!model_.head->pools_chunks()) {
      throw scheduler::BackendError("late chunking needs a model with mean pooling");
    }
    return tokenize_chunks(*model_.tokenizer, *text);
  }

  TextModel model_;
};

}  // namespace

LoadedModel load(const TextModelSource& source, const ComputeOptions& compute) {
  const ComputeTypes compute_types = choose_compute_types(compute);
  set_intra_op_threads(1);  // no OpenMP threads for loading
  keep_memory_between_batches();
  const c10::InferenceMode inference_mode;
  try {
    TextModel model = load_text_model(source, compute_types);
    release_free_memory();
    const auto columns = static_cast<size_t>(model.head->columns());
    const auto vocabulary_size = static_cast<size_t>(model.sizes.vocabulary_size);
    const auto backend = std::make_shared<TextEncoderBackend>(std::move(model));
    return {.backend = backend,
            .report = {.kind = "text-encoder",
                       .num_outputs = columns,
                       .vocabulary_size = vocabulary_size,
                       .reads_lists = backend->reads_lists(),
                       .kernels_in_use =
                           describe_kernels(compute_types.linear, compute_types.attention),
                       .warnings = {},
                       .load_time_check = {}},
            .vocabulary = std::make_shared<TokenizerVocabulary>(backend, backend->tokenizer())};
  } catch (const common::LoadError&) {
    throw;
  } catch (...) {
    throw common::LoadError(message_of_current_exception());
  }
}

}  // namespace backend
