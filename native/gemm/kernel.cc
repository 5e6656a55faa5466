#include "kernel.h"

#include "choice.h"
#include "gemm/processor.h"

namespace gemm {
namespace {

const Kernel& chosen() {
#if defined(__x86_64__)
  return *choose<Kernel>({&kAvx512Kernel, &kAvx2Kernel}, kPortableKernel, this_processor().usable)
              .kernel;
#else
  return kPortableKernel;
#endif
}

}  // namespace

const Kernel& best_kernel() {
  static const Kernel& best = chosen();
  return best;
}

ActivationFunction best_gelu(int64_t panel_width) {
  const Kernel& best = best_kernel();
  const int vector = best.panel_width / 2;
  return panel_width % vector == 0 ? best.gelu : kPortableKernel.gelu;
}

const char* PackedLinear::kernel_name() { return best_kernel().name; }

void normalize(const LayerNormRows& rows) { best_kernel().normalize(rows); }

}  // namespace gemm
