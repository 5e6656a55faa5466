#include "encoder/nn/option_biases.h"

#include <ATen/ops/empty.h>

#include <cstdlib>

namespace backend::nn {
namespace {

/// The softmax of a score with this bias is 0.
constexpr float kExcluded = -1e30F;

}  // namespace

std::vector<at::Tensor> option_biases(const PackedBatch& batch, int64_t window) {
  std::vector<at::Tensor> biases;
  if (!batch.options.defined()) return biases;
  const auto* const all_options = batch.options.const_data_ptr<int64_t>();
  const auto* const all_positions = batch.option_positions.const_data_ptr<int64_t>();
  for (const auto& [first, sequences, length] : batch.groups) {
    biases.push_back(at::empty({sequences, 1, length, length}));
    auto* bias = biases.back().mutable_data_ptr<float>();
    for (int64_t token = first; token < first + sequences * length; ++token) {
      const int64_t begin = first + (token - first) / length * length;
      const int64_t option = all_options[token], position = all_positions[token];
      for (int64_t key = begin; key < begin + length; ++key) {
        const bool is_other = option > 0 && all_options[key] > 0 && all_options[key] != option;
        const bool is_far = std::abs(all_positions[key] - position) > window;
        *bias++ = is_other || is_far ? kExcluded : 0;
      }
    }
  }
  return biases;
}

}  // namespace backend::nn
