#include "text/colbert.h"

#include <algorithm>
#include <string>

#include "common/error.h"

namespace backend {
namespace {

int64_t expansion_token_id(const std::string& token, const tokenizers::Tokenizer& tokenizer) {
  const int64_t id = token.empty() ? tokenizer.expansion_token_id() : tokenizer.token_to_id(token);
  if (id >= 0) return id;
  throw common::LoadError(
      token.empty() ? "sentence_bert_config.json: query_expansion: token: the tokenizer has "
                      "neither a mask token nor one "
                      "that ends a text: name one of its tokens"
                    : "sentence_bert_config.json: query_expansion: token: the tokenizer has no \"" +
                          token + "\"");
}

}  // namespace

ColbertTokenization::ColbertTokenization(const LateInteraction& options,
                                         const tokenizers::Tokenizer& tokenizer, size_t max_tokens)
    : query_length_(options.query_length), attend_to_expansion_(options.attend_to_expansion) {
  for (const std::string& token : options.skiplist) {
    if (const int64_t id = tokenizer.token_to_id(token); id >= 0) skiplist_.insert(id);
  }
  if (query_length_ == 0) return;
  expansion_id_ = expansion_token_id(options.expansion_token, tokenizer);
  if (query_length_ <= max_tokens) return;
  throw common::LoadError(
      "sentence_bert_config.json: query_expansion: length: " + std::to_string(query_length_) +
      " tokens, the model takes " + std::to_string(max_tokens));
}

void ColbertTokenization::apply_skiplist(Sequence& sequence) const {
  for (size_t i = 0; i < sequence.input_ids.size(); ++i) {
    if (skiplist_.contains(sequence.input_ids[i])) sequence.skiplist_rows.push_back(i);
  }
}

void ColbertTokenization::expand_query(Sequence& sequence) const {
  const size_t count = sequence.input_ids.size();
  if (count >= query_length_) return;
  sequence.input_ids.resize(query_length_, expansion_id_);
  sequence.token_type_ids.resize(query_length_, 0);
  if (!attend_to_expansion_) sequence.unattended_expansion_tokens = query_length_ - count;
}

void drop_rows(const std::vector<size_t>& tokens, scheduler::Output& output) {
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
