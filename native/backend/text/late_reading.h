// What models of late interaction make of the tokens of a text.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "backend/late_interaction.h"
#include "backend/model_input.h"
#include "tokenizers/bridge.h"

namespace backend {

/// A LateInteraction, by the ids of its tokens.
/// Source: sentence-transformers, base/modules/transformer.py (preprocess) and
/// multi_vector_encoder/modules/multi_vector_mask.py (MultiVectorMask).
class LateReading {
 public:
  /// `most`: tokens that the model takes. Throws LoadError: the tokenizer has no such token, or the
  /// model does not take so many.
  LateReading(const LateInteraction& what, const tokenizers::Tokenizer& tokenizer, size_t most);

  /// Filled up to the model's length; a longer one stays as it is.
  void fill(Sequence& sequence) const;

  /// The rows of the tokens that are skipped are left out.
  void skip(Sequence& sequence) const;

 private:
  size_t filled_length_;
  bool filling_is_seen_;
  int64_t filling_id_ = 0;
  std::set<int64_t> skipped_;  // a word that is no token of the vocabulary is not among them
};

/// `tokens`: rows, in order, that go.
void leave_out(const std::vector<size_t>& tokens, scheduler::Output& output);

}  // namespace backend
