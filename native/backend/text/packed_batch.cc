#include "text/packed_batch.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace backend::nn {
namespace {

at::Tensor empty_ids(int64_t size) { return at::empty({size}, at::TensorOptions(at::kLong)); }

/// Alternative options begin at the position of the first one, and the tokens after them follow the
/// longest one. Source: laya, common.py (parallel_layout).
void lay_out_options(const Sequence& sequence, int64_t* positions, int64_t* options) {
  const std::vector<size_t>& markers = sequence.markers;
  const size_t length = sequence.input_ids.size(), end = sequence.options_end;
  std::iota(positions, positions + length, int64_t{0});
  std::fill_n(options, length, int64_t{0});
  if (end == 0) return;
  const size_t start = markers.front();
  size_t longest = 0;
  for (size_t i = 0; i < markers.size(); ++i) {
    const size_t last = i + 1 < markers.size() ? markers[i + 1] : end;
    longest = std::max(longest, last - markers[i]);
    std::iota(positions + markers[i], positions + last, static_cast<int64_t>(start));
    std::fill(options + markers[i], options + last, static_cast<int64_t>(i) + 1);
  }
  std::iota(positions + end, positions + length, static_cast<int64_t>(start + longest));
}

}  // namespace

PackedBatch::PackedBatch(Batch batch) : order(batch.size()) {
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t index) {
    return std::pair(batch[index]->adapter_task, batch[index]->input_ids.size());
  };
  std::ranges::stable_sort(order, {}, key);
  prompt_tokens.reserve(order.size());
  attended_tokens.reserve(order.size());
  cu_seqlens.reserve(order.size() + 1);
  cu_seqlens.push_back(0);
  cu_pooled_rows.push_back(0);
  for (const size_t index : order) {
    const auto length = static_cast<int64_t>(batch[index]->input_ids.size());
    if (groups.empty() || groups.back().length != length) {
      groups.push_back({cu_seqlens.back(), 0, length});
    }
    ++groups.back().sequences;
    if (const auto task = batch[index]->adapter_task) {
      if (tasks.empty() || tasks.back().task != *task) {
        tasks.push_back({*task, static_cast<int64_t>(cu_seqlens.size()) - 1, 0});
      }
      ++tasks.back().sequences;
    }
    prompt_tokens.push_back(static_cast<int64_t>(batch[index]->prompt_tokens));
    attended_tokens.push_back(length -
                              static_cast<int64_t>(batch[index]->unattended_expansion_tokens));
    cu_seqlens.push_back(cu_seqlens.back() + length);
    const std::vector<size_t>& chunk_ends = batch[index]->chunk_ends;
    pooled_ends.insert(pooled_ends.end(), chunk_ends.begin(), chunk_ends.end());
    if (chunk_ends.empty()) pooled_ends.push_back(length);
    cu_pooled_rows.push_back(static_cast<int64_t>(pooled_ends.size()));
  }
  input_ids = empty_ids(tokens());
  token_type_ids = empty_ids(tokens());
  auto* ids = input_ids.mutable_data_ptr<int64_t>();
  auto* types = token_type_ids.mutable_data_ptr<int64_t>();
  for (const size_t index : order) {
    ids = std::ranges::copy(batch[index]->input_ids, ids).out;
    types = std::ranges::copy(batch[index]->token_type_ids, types).out;
  }
  if (std::ranges::none_of(batch, [](const auto* one) { return one->options_end > 0; })) return;
  option_positions = empty_ids(tokens());
  options = empty_ids(tokens());
  for (size_t i = 0; i < order.size(); ++i) {
    lay_out_options(*batch[order[i]], option_positions.mutable_data_ptr<int64_t>() + cu_seqlens[i],
                    options.mutable_data_ptr<int64_t>() + cu_seqlens[i]);
  }
}

int64_t PackedBatch::max_length() const {
  return std::ranges::max(groups, {}, &LengthGroup::length).length;
}

at::Tensor PackedBatch::position_ids() const {
  if (option_positions.defined()) return option_positions;
  at::Tensor positions = empty_ids(tokens());
  auto* data = positions.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i + 1 < cu_seqlens.size(); ++i) {
    std::iota(data + cu_seqlens[i], data + cu_seqlens[i + 1], int64_t{0});
  }
  return positions;
}

at::Tensor PackedBatch::position_ids_after(int64_t padding_id) const {
  at::Tensor positions = empty_ids(tokens());
  const auto* ids = input_ids.const_data_ptr<int64_t>();
  auto* data = positions.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i + 1 < cu_seqlens.size(); ++i) {
    int64_t position = padding_id;
    for (int64_t row = cu_seqlens[i]; row < cu_seqlens[i + 1]; ++row) {
      data[row] = ids[row] == padding_id ? padding_id : ++position;
    }
  }
  return positions;
}

at::Tensor PackedBatch::first_token_rows() const {
  at::Tensor rows = empty_ids(sequences());
  std::copy(cu_seqlens.begin(), cu_seqlens.end() - 1, rows.mutable_data_ptr<int64_t>());
  return rows;
}

std::vector<scheduler::Output> PackedBatch::outputs(const at::Tensor& values) const {
  const at::Tensor contiguous = values.contiguous();
  const auto* row = contiguous.const_data_ptr<float>();
  const bool is_by_token = values.size(0) != cu_pooled_rows.back();
  const std::vector<int64_t>& ends = is_by_token ? cu_seqlens : cu_pooled_rows;
  std::vector<scheduler::Output> results(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    scheduler::Output& result = results[order[i]];
    result.rows = static_cast<size_t>(ends[i + 1] - ends[i]);
    const auto* const end = row + static_cast<int64_t>(result.rows) * values.size(1);
    result.values.assign(row, end);
    row = end;
  }
  return results;
}

}  // namespace backend::nn
