// Kernels that this processor runs, the portable one first.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "bfloat16_kernel.h"
#include "gemm/processor.h"
#include "int8_kernel.h"
#include "kernel.h"

template <class AnyKernel>
std::vector<const AnyKernel*> supported_of(std::initializer_list<const AnyKernel*> kernels) {
  std::vector<const AnyKernel*> supported;
  for (const AnyKernel* kernel : kernels) {
    if ((kernel->needs & ~gemm::this_processor().usable) == 0) supported.push_back(kernel);
  }
  return supported;
}

#if defined(__x86_64__)
inline std::vector<const gemm::Kernel*> supported_kernels() {
  return supported_of({&gemm::kPortableKernel, &gemm::kAvx2Kernel, &gemm::kAvx512Kernel});
}
inline std::vector<const gemm::Int8Kernel*> supported_int8_kernels() {
  return supported_of(
      {&gemm::kPortableInt8Kernel, &gemm::kInt8Avx2Kernel, &gemm::kInt8Avx512Kernel});
}
inline std::vector<const gemm::BFloat16Kernel*> supported_bfloat16_kernels() {
  return supported_of({&gemm::kPortableBFloat16Kernel, &gemm::kBFloat16Avx512Kernel});
}
#else
inline std::vector<const gemm::Kernel*> supported_kernels() { return {&gemm::kPortableKernel}; }
inline std::vector<const gemm::Int8Kernel*> supported_int8_kernels() {
  return {&gemm::kPortableInt8Kernel};
}
inline std::vector<const gemm::BFloat16Kernel*> supported_bfloat16_kernels() {
  return {&gemm::kPortableBFloat16Kernel};
}
#endif

/// As the name of a test that runs once for each kernel.
template <class Info>
std::string kernel_name(const Info& info) {
  std::string name = info.param->name;
  for (char& letter : name) letter = letter == ' ' || letter == '-' ? '_' : letter;
  return name;
}
