#include "text/text_list.h"

#include <string_view>

#include "scheduler/backend.h"
#include "text/tokenize.h"

namespace backend {

Sequence tokenize_list(const tokenizers::Tokenizer& tokenizer, const TextList& list,
                       int64_t empty_id) {
  Sequence all{.input_ids = {}, .token_type_ids = {}, .samples = {}};
  all.chunk_ends.reserve(list.ends.size());
  all.truncated_texts.reserve(list.ends.size());
  const std::string_view texts = list.text;
  size_t begin = 0;
  for (const size_t end : list.ends) {
    try {
      const auto text =
          encode(tokenizer, texts.substr(begin, end - begin), list.truncation, list.side);
      all.input_ids.insert(all.input_ids.end(), text.input_ids.begin(), text.input_ids.end());
      if (text.input_ids.empty()) all.input_ids.push_back(empty_id);
      all.truncated_texts.push_back(text.truncated);
      all.truncated = all.truncated || text.truncated;
    } catch (scheduler::BackendError& error) {
      error.element = all.chunk_ends.size();
      throw;
    }
    all.chunk_ends.push_back(all.input_ids.size());
    begin = end;
  }
  all.token_type_ids.resize(all.input_ids.size());
  return all;
}

}  // namespace backend
