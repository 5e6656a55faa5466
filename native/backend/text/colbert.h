// Query expansion and skiplists of late-interaction models (ColBERT).
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "backend/backends.h"
#include "backend/model_input.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Query expansion and skiplist of a LateInteraction, as token ids. Thread-safe.
/// Source: sentence-transformers, base/modules/transformer.py (preprocess) and
/// multi_vector_encoder/modules/multi_vector_mask.py (MultiVectorMask).
class ColbertTokenization {
 public:
  /// `max_tokens`: the model's maximum length. Throws LoadError if the tokenizer lacks the
  /// expansion token, or if the query length exceeds `max_tokens`.
  ColbertTokenization(const LateInteraction& options, const tokenizers::Tokenizer& tokenizer,
                      size_t max_tokens);

  /// Pads the sequence with the expansion token to the query length. Longer sequences are
  /// unchanged.
  void expand_query(Sequence& sequence) const;

  /// Lists the sequence's tokens on the skiplist in `skiplist_rows`.
  void apply_skiplist(Sequence& sequence) const;

 private:
  size_t query_length_;
  bool attend_to_expansion_;
  int64_t expansion_id_ = 0;
  std::set<int64_t> skiplist_;  // words that are not tokens of the vocabulary are omitted
};

/// Removes these rows from the output. `tokens`: row indices, ascending.
void drop_rows(const std::vector<size_t>& tokens, scheduler::Output& output);

}  // namespace backend
