#include "text/model_backend.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace backend {

size_t Input::bytes() const {
  if (const auto* text = std::get_if<TextInput>(&content)) {
    return text->text.size() + text->pair.size() + text->prompt.size() +
           text->chunk_ends.size() * sizeof(size_t);
  }
  if (const auto* tokens = std::get_if<TokenInput>(&content)) {
    return (tokens->ids.size() + tokens->types.size()) * sizeof(int64_t) +
           tokens->markers.size() * sizeof(size_t);
  }
  if (const auto* entities = std::get_if<EntityInput>(&content)) {
    size_t bytes = entities->text.size() + entities->task.size();
    for (const std::string& label : entities->labels) bytes += sizeof(std::string) + label.size();
    return bytes;
  }
  if (const auto* list = std::get_if<TextList>(&content)) return list->text.size();
  return std::get<Samples>(content).size() * sizeof(float);
}

size_t Input::count() const {
  const auto* const list = std::get_if<TextList>(&content);
  return list != nullptr ? list->ends.size() : 1;
}

size_t PreparedSequence::cost() const {
  size_t tokens = sequence.input_ids.size();
  if (sequence.entities) {
    for (const LabelIds& label : sequence.entities->label_ids) tokens += label.size();
  }
  return std::max<size_t>(tokens, 1);
}

void PreparedSequence::add_to(scheduler::SipHash128& hash) const {
  hash.add(sequence.prompt_tokens);
  hash.add(sequence.unattended_expansion_tokens);
  const auto& [dense, sparse, colbert] = sequence.parts.value_or(EmbeddingParts());
  hash.add(static_cast<uint64_t>(dense) + 2 * static_cast<uint64_t>(sparse) +
           4 * static_cast<uint64_t>(colbert) + 8 * static_cast<uint64_t>(!sequence.parts));
  hash.add(static_cast<uint64_t>(sequence.adapter_task.value_or(-1)));
  hash.add(sequence.skiplist_rows.size());
  for (const size_t row : sequence.skiplist_rows) hash.add(row);
  hash.add(sequence.chunk_ends.size());
  for (const size_t end : sequence.chunk_ends) hash.add(end);
  if (const auto& entities = sequence.entities) {
    hash.add(std::bit_cast<uint32_t>(entities->threshold));
    hash.add(entities->labels.size());
    for (const int64_t row : entities->labels) hash.add(static_cast<uint64_t>(row));
    hash.add(entities->label_ids.size());
    for (const LabelIds& label : entities->label_ids) {
      hash.add(label.size());
      for (const int64_t id : label) hash.add(static_cast<uint64_t>(id));
    }
    hash.add(entities->words.size());
    for (const int64_t row : entities->words) hash.add(static_cast<uint64_t>(row));
  }
  hash.add(sequence.question_type);
  hash.add(sequence.options_end);
  hash.add(sequence.markers.size());
  for (const size_t marker : sequence.markers) hash.add(marker);
  hash.add(sequence.input_ids.size());
  for (const int64_t id : sequence.input_ids) hash.add(static_cast<uint64_t>(id));
  for (const int64_t type : sequence.token_type_ids) hash.add(static_cast<uint64_t>(type));
}

scheduler::PreparedPtr ModelBackend::prepare(scheduler::InputPtr input) const {
  return std::make_shared<PreparedSequence>(
      to_sequence(std::move(static_cast<Input&>(*input).content)));
}

scheduler::PreparedPtr ModelBackend::prepare_thread(const scheduler::AssignedPool& pool) {
  return std::make_shared<PreparedSequence>(warm_up(pool));
}

std::vector<scheduler::Output> ModelBackend::run(scheduler::Batch batch,
                                                 const scheduler::AssignedPool& pool) {
  std::vector<const Sequence*> sequences;
  sequences.reserve(batch.size());
  for (const scheduler::PreparedInput* const input : batch) {
    sequences.push_back(&static_cast<const PreparedSequence*>(input)->sequence);
  }
  return run_batch(sequences, pool);
}

}  // namespace backend
