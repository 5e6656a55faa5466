#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "backend/model_input.h"

namespace backend::nn {

/// Consecutive sequences of equal length. Length-dependent tensors are computed once for the group.
struct LengthGroup {
  int64_t first_token;  ///< row of the group's first token
  int64_t sequences;
  int64_t length;  ///< tokens of each
};

/// Consecutive sequences with the same task of TaskAdapters.
struct TaskGroup {
  int64_t task;
  int64_t first_sequence;
  int64_t sequences;
};

/// The sequences of a batch, concatenated without padding, sorted by task and then by length. Rows
/// of every [tokens, …] tensor of the model follow this order.
struct PackedBatch {
  explicit PackedBatch(Batch batch);

  at::Tensor input_ids;             ///< int64 [tokens]
  at::Tensor token_type_ids;        ///< int64 [tokens]
  std::vector<int64_t> cu_seqlens;  ///< [sequences + 1], cumulative sequence lengths
  std::vector<LengthGroup> groups;
  std::vector<TaskGroup> tasks;        ///< sequences without a task belong to no group
  std::vector<int64_t> prompt_tokens;  ///< [sequences], number of leading prompt tokens
  std::vector<int64_t>
      attended_tokens;  ///< [sequences], number of leading tokens that are attended to
  /// [sequences + 1], cumulative number of rows that pooling returns: one for each sequence, or one
  /// for each of its chunks.
  std::vector<int64_t> cu_pooled_rows;
  /// [pooled rows], end of the tokens of each, counted from the first token of its sequence.
  std::vector<int64_t> pooled_ends;
  std::vector<size_t> order;  ///< packed position → index in the batch
  /// int64 [tokens], if a sequence has alternative options (TokenInput::options_end); otherwise
  /// undefined. positions: of each token in its sequence. options: 1 + index of the option of a
  /// token, 0 for other tokens.
  at::Tensor option_positions, options;

  int64_t tokens() const { return cu_seqlens.back(); }
  int64_t sequences() const { return static_cast<int64_t>(order.size()); }

  /// Length of the longest sequence.
  int64_t max_length() const;

  /// Positions 0, 1, 2, … of each sequence, or option_positions; int64 [tokens].
  at::Tensor position_ids() const;

  /// Positions padding_id + 1, padding_id + 2, … of each sequence; int64 [tokens]. A padding token
  /// in the text has position padding_id and is not counted. Source: transformers,
  /// models/roberta/modeling_roberta.py (create_position_ids_from_input_ids).
  at::Tensor position_ids_after(int64_t padding_id) const;

  /// Rows of the sequences' first tokens, which classification heads read; int64 [sequences].
  at::Tensor first_token_rows() const;

  /// Outputs of the sequences, in the order of the original batch. values: float32 [pooled rows,
  /// columns], or [tokens, columns], a row for each token.
  std::vector<scheduler::Output> outputs(const at::Tensor& values) const;
};

}  // namespace backend::nn
