// Kernels of number formats that this processor runs, the portable one first.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "elementwise/elementwise.h"
#include "format/kernel.h"
#include "gemm/processor.h"

namespace gemm {

/// For GoogleTest.
inline void PrintTo(const FormatKernel& by, std::ostream* out) { *out << by.kernel->name; }

}  // namespace gemm

inline std::vector<gemm::FormatKernel> supported_kernels(gemm::Format format) {
  const auto& description = gemm::description_of(format);
  std::vector<gemm::FormatKernel> kernels;
  for (const gemm::Kernel* kernel : description.kernels) {
    const bool is_supported = (kernel->needs & ~gemm::this_processor().usable) == 0;
    if (is_supported) kernels.insert(kernels.begin(), {description, *kernel});
  }
  return kernels;
}

inline std::vector<const gemm::Elementwise*> supported_elementwise() {
  std::vector<const gemm::Elementwise*> supported{&gemm::kElementwisePortable};
#if defined(__x86_64__)
  for (const auto* each : {&gemm::kElementwiseAvx2, &gemm::kElementwiseAvx512}) {
    if ((each->needs & ~gemm::this_processor().usable) == 0) supported.push_back(each);
  }
#endif
  return supported;
}

/// As the name of a test that runs once for each kernel.
template <class Info>
std::string kernel_name(const Info& info) {
  std::string name = info.param.kernel->name;
  for (char& letter : name) letter = letter == ' ' || letter == '-' ? '_' : letter;
  return name;
}
