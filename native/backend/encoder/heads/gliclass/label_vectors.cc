// States of the labels.
// Source: gliclass, model.py (_extract_class_features_first, _extract_class_features_averaged).
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include "encoder/heads/gliclass/vectors.h"
#include "encoder/heads/marker_rows.h"

namespace backend::heads::gliclass {
namespace {

/// Calls append(first row of the label, end of its rows) for each label. The rows of the last label
/// end at the separator, or at the end of the sequence.
template <class Append>
void for_each_label(const nn::PackedBatch& packed, Batch sequences, bool ends_at_separator,
                    const Append& append) {
  for (size_t i = 0; i < packed.order.size(); ++i) {
    const std::vector<size_t>& markers = sequences[packed.order[i]]->markers;
    const int64_t first = packed.cu_seqlens[i];
    for (size_t k = 0; k + 1 < markers.size(); ++k) {
      const bool is_last = k + 2 == markers.size();
      const int64_t end = is_last && !ends_at_separator
                              ? packed.cu_seqlens[i + 1]
                              : first + static_cast<int64_t>(markers[k + 1]);
      append(first + static_cast<int64_t>(markers[k]), end);
    }
  }
}

}  // namespace

at::Tensor label_states(const at::Tensor& hidden, const nn::PackedBatch& packed, Batch sequences,
                        const GliclassHead& options) {
  const int64_t skipped = options.omits_label_token ? 1 : 0;
  if (!options.averages_label) {
    std::vector<int64_t> rows;
    for_each_label(packed, sequences, true,
                   [&](int64_t begin, int64_t /*end*/) { rows.push_back(begin + skipped); });
    return gather_rows(hidden, rows);
  }
  std::vector<at::Tensor> means;
  for_each_label(packed, sequences, options.text_from_separator, [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin - skipped;
    means.push_back(count == 0
                        ? at::zeros({1, hidden.size(1)}, hidden.options())
                        : at::sum(hidden.narrow(0, begin + skipped, count), 0, true) / count);
  });
  return means.empty() ? hidden.narrow(0, 0, 0) : at::cat(means);
}

}  // namespace backend::heads::gliclass
