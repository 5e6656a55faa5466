// Pooling of texts.
// Source: gliclass, poolings.py, and model.py (_extract_class_features).
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>

#include "encoder/heads/gliclass/vectors.h"

namespace backend::heads::gliclass {
namespace {

/// rows: [count, size]. zeros: number of zero rows after them. → [size]
at::Tensor pool(TextPooling pooling, const at::Tensor& rows, int64_t zeros) {
  const auto total = static_cast<double>(rows.size(0) + zeros);
  switch (pooling) {
    case TextPooling::kNone:
    case TextPooling::kFirst:
      return rows.select(0, 0);
    case TextPooling::kLast:
      return zeros > 0 ? at::zeros_like(rows.select(0, 0)) : rows.select(0, rows.size(0) - 1);
    case TextPooling::kMax: {
      const at::Tensor most = at::amax(rows, 0);
      return zeros > 0 ? at::clamp_min(most, 0) : most;
    }
    case TextPooling::kMean:
      return at::sum(rows, 0) / total;
    case TextPooling::kSum:
      return at::sum(rows, 0);
    case TextPooling::kRootMeanSquare:
      return at::sqrt(at::sum(at::square(rows), 0) / total);
    case TextPooling::kAbsMax:
      return at::amax(at::abs(rows), 0);
    case TextPooling::kAbsMean:
      return at::sum(at::abs(rows), 0) / total;
  }
  return rows;
}

}  // namespace

std::vector<TextRows> text_rows(const nn::PackedBatch& packed, Batch sequences,
                                bool from_separator) {
  std::vector<TextRows> result;
  result.reserve(packed.order.size());
  for (size_t i = 0; i < packed.order.size(); ++i) {
    const int64_t first = packed.cu_seqlens[i], length = packed.cu_seqlens[i + 1] - first;
    const std::vector<size_t>& markers = sequences[packed.order[i]]->markers;
    const int64_t skipped = from_separator ? static_cast<int64_t>(markers.back()) : 0;
    result.push_back({.first = first + skipped, .count = length - skipped, .length = length});
  }
  return result;
}

at::Tensor pool_texts(TextPooling pooling, const at::Tensor& states,
                      const std::vector<TextRows>& texts, bool has_zeros) {
  std::vector<at::Tensor> pooled;
  pooled.reserve(texts.size());
  int64_t first = 0;
  for (const auto& [_, count, length] : texts) {
    const int64_t zeros = has_zeros ? length - count : 0;
    pooled.push_back(pool(pooling, states.narrow(0, first, count), zeros).unsqueeze(0));
    first += count;
  }
  return at::cat(pooled);
}

}  // namespace backend::heads::gliclass
