#include "elementwise/elementwise.h"

#include "kernels/cpu.h"

namespace kernels {

namespace {

const Elementwise& choose() {
#if defined(__x86_64__)
  for (const Elementwise* const each : {&kElementwiseAvx512, &kElementwiseAvx2}) {
    if ((each->needs & ~this_processor().usable) == 0) return *each;
  }
#endif
  return kElementwisePortable;
}

}  // namespace

const Elementwise& best_elementwise() {
  static const Elementwise& best = choose();
  return best;
}

EpilogueFunction best_epilogue(Epilogue epilogue, int64_t nr) {
  const Elementwise& best = best_elementwise();
  const Elementwise& fitting = nr % best.lanes == 0 ? best : kElementwisePortable;
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
