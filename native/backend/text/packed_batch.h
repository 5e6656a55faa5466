#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "backend/model_input.h"

namespace backend::nn {

/// Neighbouring sequences of one length. What depends on the length is computed once for them.
struct LengthGroup {
  int64_t first_token;  ///< row of the group's first token
  int64_t sequences;
  int64_t length;  ///< tokens of each
};

/// The sequences of a batch end to end, without padding, the ones of equal length side by side.
/// Rows of every [tokens, …] tensor of the model follow this order.
struct PackedBatch {
  explicit PackedBatch(Batch batch);

  at::Tensor input_ids;             ///< int64 [tokens]
  at::Tensor token_type_ids;        ///< int64 [tokens]
  std::vector<int64_t> cu_seqlens;  ///< [sequences + 1], cumulative sequence lengths
  std::vector<LengthGroup> groups;
  std::vector<int64_t> prompt_tokens;  ///< [sequences], of each the first that are a prompt's
  std::vector<int64_t> seen_tokens;    ///< [sequences], of each the first that others attend to
  std::vector<size_t> order;           ///< packed position → index in the batch given

  int64_t tokens() const { return cu_seqlens.back(); }
  int64_t sequences() const { return static_cast<int64_t>(order.size()); }

  /// 0, 1, 2, … in each sequence; int64 [tokens].
  at::Tensor position_ids() const;

  /// padding_id + 1, padding_id + 2, … in each sequence; a padding token (which a text may spell
  /// out) has the position padding_id and is not counted; int64 [tokens].
  /// Source: transformers, models/roberta/modeling_roberta.py (create_position_ids_from_input_ids).
  at::Tensor position_ids_after(int64_t padding_id) const;

  /// The row of each sequence's first token, which classification heads read; int64 [sequences].
  at::Tensor first_token_rows() const;

  /// The answers of the sequences in the order of the batch given: of values float32 [sequences,
  /// columns], one row each, of [tokens, columns] a row for each of its tokens.
  std::vector<scheduler::Output> outputs(const at::Tensor& values) const;
};

}  // namespace backend::nn
