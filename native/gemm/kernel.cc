#include "kernel.h"

#include "choice.h"
#include "gemm/processor.h"

namespace gemm {
namespace {

const Choice<Kernel>& chosen() {
  static const Choice<Kernel> choice = choose<Kernel>(
      {
#if defined(__x86_64__)
          &kAvx512Kernel, &kAvx2Kernel
#endif
      },
      kPortableKernel, this_processor().usable);
  return choice;
}

}  // namespace

const Kernel& best_kernel() { return *chosen().kernel; }

ActivationFunction best_gelu(int64_t panel_width) {
  const Kernel& best = best_kernel();
  const int vector = best.panel_width / 2;
  return panel_width % vector == 0 ? best.gelu : kPortableKernel.gelu;
}

const std::vector<std::string>& PackedLinear::warnings() { return chosen().warnings; }

void normalize(const LayerNormRows& rows) { best_kernel().normalize(rows); }

}  // namespace gemm
