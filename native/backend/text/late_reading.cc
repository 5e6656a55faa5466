#include "text/late_reading.h"

#include <algorithm>
#include <string>

#include "backend/model_config.h"

namespace backend {
namespace {

int64_t filling_id_of(const std::string& token, const tokenizers::Tokenizer& tokenizer) {
  const int64_t id = token.empty() ? tokenizer.filling_id() : tokenizer.id_of(token);
  if (id >= 0) return id;
  throw LoadError(
      token.empty() ? "sentence_bert_config.json: query_expansion: token: the tokenizer has "
                      "neither a mask token nor one "
                      "that ends a text: name one of its tokens"
                    : "sentence_bert_config.json: query_expansion: token: the tokenizer has no \"" +
                          token + "\"");
}

}  // namespace

LateReading::LateReading(const LateInteraction& what, const tokenizers::Tokenizer& tokenizer, size_t most)
    : filled_length_(what.filled_length), filling_is_seen_(what.filling_is_seen) {
  for (const std::string& token : what.skipped) {
    if (const int64_t id = tokenizer.id_of(token); id >= 0) skipped_.insert(id);
  }
  if (filled_length_ == 0) return;
  filling_id_ = filling_id_of(what.filling_token, tokenizer);
  if (filled_length_ <= most) return;
  throw LoadError(
      "sentence_bert_config.json: query_expansion: length: " + std::to_string(filled_length_) +
      " tokens, the model takes " + std::to_string(most));
}

void LateReading::skip(Sequence& sequence) const {
  for (size_t i = 0; i < sequence.input_ids.size(); ++i) {
    if (skipped_.contains(sequence.input_ids[i])) sequence.skiplist_rows.push_back(i);
  }
}

void LateReading::fill(Sequence& sequence) const {
  const size_t count = sequence.input_ids.size();
  if (count >= filled_length_) return;
  sequence.input_ids.resize(filled_length_, filling_id_);
  sequence.token_type_ids.resize(filled_length_, 0);
  if (!filling_is_seen_) sequence.unattended_expansion_tokens = filled_length_ - count;
}

void leave_out(const std::vector<size_t>& tokens, scheduler::Output& output) {
  if (tokens.empty() || output.rows == 0) return;
  const auto columns = static_cast<int64_t>(output.values.size() / output.rows);
  auto end = output.values.begin();
  size_t next = 0;
  for (size_t row = 0; row < output.rows; ++row) {
    if (next < tokens.size() && tokens[next] == row) {
      ++next;
      continue;
    }
    const auto from = output.values.begin() + static_cast<int64_t>(row) * columns;
    end = std::copy_n(from, columns, end);
  }
  output.values.erase(end, output.values.end());
  output.rows -= next;
}

}  // namespace backend
