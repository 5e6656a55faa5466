#include "elementwise/elementwise.h"

#include "kernels/processor.h"

namespace kernels {

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

EpilogueFunction best_epilogue(Epilogue epilogue, int64_t panel_width) {
  const Elementwise& best = best_elementwise();
  const Elementwise& fitting = panel_width % best.lanes == 0 ? best : kElementwisePortable;
  switch (epilogue) {
    case Epilogue::kStore:
      return nullptr;
    case Epilogue::kGelu:
      return fitting.gelu;
    case Epilogue::kAdd:
      return fitting.add;
    case Epilogue::kMultiply:
      return fitting.multiply;
  }
  return nullptr;
}

void normalize(const LayerNormRows& rows) { best_elementwise().normalize(rows); }

void rotate(const RotatedHeads& heads) { best_elementwise().rotate(heads); }

}  // namespace kernels
