// All kernels that this processor supports, the portable one first.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "elementwise/elementwise.h"
#include "kernels/cpu.h"
#include "matmul/kernel.h"

namespace kernels {

/// Printer for GoogleTest.
inline void PrintTo(const FormatKernel& by, std::ostream* out) { *out << by.kernel->name; }

}  // namespace kernels

inline std::vector<kernels::FormatKernel> supported_kernels(kernels::Format format) {
  const auto& description = kernels::description_of(format);
  std::vector<kernels::FormatKernel> kernels;
  for (const kernels::Kernel* kernel : description.kernels) {
    if (kernels::is_usable(kernel->needs)) kernels.insert(kernels.begin(), {description, *kernel});
  }
  return kernels;
}

/// The supported kernels that compute attention themselves.
inline std::vector<kernels::FormatKernel> supported_attention_kernels(kernels::Format format) {
  auto kernels = supported_kernels(format);
  std::erase_if(kernels, [](const auto& by) { return by.kernel->for_attention != nullptr; });
  return kernels;
}

inline std::vector<const kernels::Elementwise*> supported_elementwise() {
  std::vector<const kernels::Elementwise*> supported{&kernels::kElementwisePortable};
#if defined(__x86_64__)
  for (const auto* each : {&kernels::kElementwiseAvx2, &kernels::kElementwiseAvx512}) {
    if (kernels::is_usable(each->needs)) supported.push_back(each);
  }
#endif
  return supported;
}

/// Name of a parameterized test for a kernel.
template <class Info>
std::string kernel_name(const Info& info) {
  std::string name = info.param.kernel->name;
  for (char& letter : name) letter = letter == ' ' || letter == '-' ? '_' : letter;
  return name;
}
