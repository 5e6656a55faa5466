#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "text/packed_batch.h"

namespace backend::nn {

/// Biases of attention that keep alternative options apart (TokenInput::options_end): a token
/// attends to all tokens except those of other options. window: it also attends only to positions
/// up to this distance, which options share, so the distance of indexes is no measure.
/// → for each length group [sequences, 1, length, length]; empty if no sequence has such options.
/// Source: laya, common.py (parallel_option_masks).
std::vector<at::Tensor> option_biases(const PackedBatch& batch, int64_t window);

}  // namespace backend::nn
