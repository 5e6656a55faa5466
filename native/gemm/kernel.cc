#include "kernel.h"

namespace gemm {

const Kernel& best_kernel() {
#if defined(__x86_64__)
  for (const Kernel* kernel : {&kAvx512Kernel, &kAvx2Kernel}) {
    if (kernel->is_supported()) return *kernel;
  }
#endif
  return kPortableKernel;
}

void normalize(const LayerNormRows& rows) { best_kernel().normalize(rows); }

}  // namespace gemm
