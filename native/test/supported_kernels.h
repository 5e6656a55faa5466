// Kernels that this processor runs, the portable one first.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "bfloat16_kernel.h"
#include "gemm/processor.h"
#include "int8_kernel.h"
#include "kernel.h"
#include "split_kernel.h"

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
  return supported_of({&gemm::kPortableInt8Kernel, &gemm::kInt8Avx2Kernel, &gemm::kInt8Avx512Kernel,
                       &gemm::kInt8AmxKernel});
}
inline std::vector<const gemm::BFloat16Kernel*> supported_bfloat16_kernels() {
  return supported_of(
      {&gemm::kPortableBFloat16Kernel, &gemm::kBFloat16Avx512Kernel, &gemm::kBFloat16AmxKernel});
}
inline std::vector<const gemm::SplitKernel*> supported_split_kernels() {
  return supported_of({&gemm::kPortableSplitKernel, &gemm::kSplitAmxKernel});
}
#else
inline std::vector<const gemm::Kernel*> supported_kernels() { return {&gemm::kPortableKernel}; }
inline std::vector<const gemm::Int8Kernel*> supported_int8_kernels() {
  return {&gemm::kPortableInt8Kernel};
}
inline std::vector<const gemm::BFloat16Kernel*> supported_bfloat16_kernels() {
  return {&gemm::kPortableBFloat16Kernel};
}
inline std::vector<const gemm::SplitKernel*> supported_split_kernels() {
  return {&gemm::kPortableSplitKernel};
}
#endif

/// Those, and `kernel`, if its tiles are all that this processor lacks: with EmulatedTiles.
template <class AnyKernel>
std::vector<const AnyKernel*> with_emulated(std::vector<const AnyKernel*> supported,
                                            const AnyKernel& kernel) {
  const gemm::Instructions missing = kernel.needs & ~gemm::this_processor().usable;
  const bool is_emulated = missing != 0 && (missing & ~gemm::kAmx) == 0;
  if (is_emulated) supported.push_back(&kernel);
  return supported;
}
inline std::vector<const gemm::Int8Kernel*> testable_int8_kernels() {
#if defined(__x86_64__)
  return with_emulated(supported_int8_kernels(), gemm::kInt8AmxKernel);
#else
  return supported_int8_kernels();
#endif
}
inline std::vector<const gemm::BFloat16Kernel*> testable_bfloat16_kernels() {
#if defined(__x86_64__)
  return with_emulated(supported_bfloat16_kernels(), gemm::kBFloat16AmxKernel);
#else
  return supported_bfloat16_kernels();
#endif
}

inline std::vector<const gemm::SplitKernel*> testable_split_kernels() {
#if defined(__x86_64__)
  return with_emulated(supported_split_kernels(), gemm::kSplitAmxKernel);
#else
  return supported_split_kernels();
#endif
}

/// As the name of a test that runs once for each kernel.
template <class Info>
std::string kernel_name(const Info& info) {
  std::string name = info.param->name;
  for (char& letter : name) letter = letter == ' ' || letter == '-' ? '_' : letter;
  return name;
}
