#include "encoder/heads/marker_rows.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

namespace backend::heads {

MarkerRows marker_rows(const nn::PackedBatch& packed, Batch sequences) {
  MarkerRows result;
  result.counts.reserve(packed.order.size());
  for (size_t i = 0; i < packed.order.size(); ++i) {
    const std::vector<size_t>& markers = sequences[packed.order[i]]->markers;
    for (const size_t marker : markers) {
      result.rows.push_back(packed.cu_seqlens[i] + static_cast<int64_t>(marker));
    }
    result.counts.push_back(static_cast<int64_t>(markers.size()));
  }
  return result;
}

at::Tensor gather_rows(const at::Tensor& values, std::vector<int64_t>& rows) {
  const auto count = static_cast<int64_t>(rows.size());
  return at::index_select(values, 0, at::from_blob(rows.data(), {count}, at::kLong));
}

std::vector<scheduler::Output> split_rows(const at::Tensor& values,
                                          const std::vector<int64_t>& counts,
                                          const nn::PackedBatch& packed) {
  const at::Tensor contiguous = values.contiguous();
  const auto* next = contiguous.const_data_ptr<float>();
  std::vector<scheduler::Output> outputs(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    scheduler::Output& output = outputs[packed.order[i]];
    output.rows = static_cast<size_t>(counts[i]);
    output.values.assign(next, next + counts[i]);
    next += counts[i];
  }
  return outputs;
}

}  // namespace backend::heads
