#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "backend/model_input.h"
#include "backend/text_head.h"
#include "text/packed_batch.h"

namespace backend::heads::gliclass {

/// Part of the rows of a sequence that belongs to its text.
struct TextRows {
  int64_t first;   ///< row in the tensors of the batch
  int64_t count;   ///< rows up to the end of the sequence
  int64_t length;  ///< rows of the whole sequence
};

/// The rows of each text, in packed order.
std::vector<TextRows> text_rows(const nn::PackedBatch& packed, Batch sequences,
                                bool from_separator);

/// One row for each text. states: [sum of counts, size], those of the texts. has_zeros: the
/// reference pools zeros after the states up to the length of the sequence.
at::Tensor pool_texts(TextPooling pooling, const at::Tensor& states,
                      const std::vector<TextRows>& texts, bool has_zeros);

/// States of the labels, one row for each marker except the last of a sequence. hidden: [tokens,
/// size] → [labels, size]
at::Tensor label_states(const at::Tensor& hidden, const nn::PackedBatch& packed, Batch sequences,
                        const GliclassHead& options);

}  // namespace backend::heads::gliclass
