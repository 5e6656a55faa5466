#include "elementwise/elementwise.h"

#include "gemm/processor.h"

namespace gemm {

namespace {

const Elementwise& chosen() {
#if defined(__x86_64__)
  for (const Elementwise* const each : {&kElementwiseAvx512, &kElementwiseAvx2}) {
    if ((each->needs & ~this_processor().usable) == 0) return *each;
  }
#endif
  return kElementwisePortable;
}

}  // namespace

const Elementwise& best_elementwise() {
  static const Elementwise& best = chosen();
  return best;
}

ActivationFunction best_gelu(int64_t panel_width) {
  const Elementwise& best = best_elementwise();
  return panel_width % best.lanes == 0 ? best.gelu : kElementwisePortable.gelu;
}

void normalize(const LayerNormRows& rows) { best_elementwise().normalize(rows); }

}  // namespace gemm
