// The table of number formats.
#include <algorithm>

#include "kernels/cpu.h"
#include "kernels/format.h"
#include "matmul/int8.h"
#include "matmul/pack.h"

namespace kernels {
namespace {

#if defined(__x86_64__)
constexpr const Kernel* kFloat32Kernels[] = {&kFloat32Avx512, &kFloat32Avx2, &kFloat32Portable};
constexpr const Kernel* kBFloat16Kernels[] = {&kBFloat16Amx, &kBFloat16Avx512, &kBFloat16Portable};
constexpr const Kernel* kInt8Kernels[] = {&kInt8Amx, &kInt8Avx512, &kInt8Avx2, &kInt8Portable};
constexpr const Kernel* kInt8VnniKernels[] = {&kInt8VnniAmx, &kInt8VnniAvx512, &kInt8VnniPortable};
#else
constexpr const Kernel* kFloat32Kernels[] = {&kFloat32Portable};
constexpr const Kernel* kBFloat16Kernels[] = {&kBFloat16Portable};
constexpr const Kernel* kInt8Kernels[] = {&kInt8Portable};
constexpr const Kernel* kInt8VnniKernels[] = {&kInt8VnniPortable};
#endif

constexpr FormatDescription kTable[] = {
    {.format = Format::kFloat32,
     .name = "float32",
     .error = 2e-6,
     .pack_b = pack_b_as_stored,
     .kernels = kFloat32Kernels},
    {.format = Format::kBFloat16,
     .name = "bfloat16",
     .error = 1e-2,
     .pack_b = pack_b_bfloat16,
     .kernels = kBFloat16Kernels},
    {.format = Format::kInt8,
     .is_integer = true,
     .max_inputs = kSevenBits.max_inputs(),
     .name = "int8",
     .error = 5e-2,
     .pack_b = pack_b_int8,
     .kernels = kInt8Kernels},
    {.format = Format::kInt8Vnni,
     .is_integer = true,
     .max_inputs = kEightBits.max_inputs(),
     .name = "int8-vnni",
     .error = 2e-2,
     .pack_b = pack_b_int8_vnni,
     .kernels = kInt8VnniKernels},
};
static_assert(std::size(kTable) == kFormats);

/// The fastest kernel of the format that this processor supports.
const Kernel* best_kernel(Format format) {
  const auto kernels = description_of(format).kernels;
  const auto found = std::ranges::find_if(kernels, is_usable, &Kernel::needs);
  return found != kernels.end() ? *found : kernels.back();
}

}  // namespace

std::span<const FormatDescription> formats() { return kTable; }

const FormatDescription& description_of(Format format) {
  return kTable[static_cast<size_t>(format)];
}

FormatKernel::FormatKernel(Format format)
    : format(&description_of(format)), kernel(best_kernel(format)) {}

FormatKernel FormatKernel::for_attention() const {
  return kernel->for_attention != nullptr ? FormatKernel(*format, *kernel->for_attention) : *this;
}

const char* kernel_name(Format format) { return best_kernel(format)->name; }

const char* attention_kernel_name(Format format) {
  return FormatKernel(format).for_attention().kernel->name;
}

bool is_fast(Format format) {
  const auto kernels = description_of(format).kernels;
  return best_kernel(format) != kernels.back() || kernels.size() == 1;
}

}  // namespace kernels
