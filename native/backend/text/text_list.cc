#include "text/text_list.h"

#include <string>
#include <utility>

#include "scheduler/backend.h"
#include "text/tokenize.h"

namespace backend {

Sequence tokenize_list(const tokenizers::Tokenizer& tokenizer, TextList list, int64_t empty_id) {
  Sequence all{.input_ids = {}, .token_type_ids = {}, .samples = {}};
  all.chunk_ends.reserve(list.texts.size());
  all.truncated_texts.reserve(list.texts.size());
  for (size_t i = 0; i < list.texts.size(); ++i) {
    try {
      const Sequence text = tokenize(tokenizer, TextInput{.text = std::move(list.texts[i]),
                                                          .truncation = list.truncation,
                                                          .side = list.side});
      all.input_ids.insert(all.input_ids.end(), text.input_ids.begin(), text.input_ids.end());
      if (text.input_ids.empty()) all.input_ids.push_back(empty_id);
      all.chunk_ends.push_back(all.input_ids.size());
      all.truncated_texts.push_back(text.truncated);
      all.truncated = all.truncated || text.truncated;
    } catch (scheduler::BackendError& error) {
      error.element = i;
      throw;
    }
  }
  all.token_type_ids.resize(all.input_ids.size());
  return all;
}

}  // namespace backend
