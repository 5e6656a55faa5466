// Kernels that this processor runs.
#pragma once

#include <vector>

#include "kernel.h"

inline std::vector<const gemm::Kernel*> supported_kernels() {
  std::vector<const gemm::Kernel*> kernels{&gemm::kPortableKernel};
#if defined(__x86_64__)
  for (const gemm::Kernel* kernel : {&gemm::kAvx2Kernel, &gemm::kAvx512Kernel}) {
    if (kernel->is_supported()) kernels.push_back(kernel);
  }
#endif
  return kernels;
}
