// The table of number formats.
#include "format/pack.h"
#include "gemm/format.h"

namespace gemm {
namespace {

#if defined(__x86_64__)
constexpr const Kernel* kFloat32Kernels[] = {&kFloat32Avx512, &kFloat32Avx2, &kFloat32Portable};
constexpr const Kernel* kSplitKernels[] = {&kSplitAmx, &kSplitPortable};
constexpr const Kernel* kBFloat16Kernels[] = {&kBFloat16Amx, &kBFloat16Avx512, &kBFloat16Portable};
constexpr const Kernel* kInt8Kernels[] = {&kInt8Amx, &kInt8Avx512, &kInt8Avx2, &kInt8Portable};
#else
constexpr const Kernel* kFloat32Kernels[] = {&kFloat32Portable};
constexpr const Kernel* kSplitKernels[] = {&kSplitPortable};
constexpr const Kernel* kBFloat16Kernels[] = {&kBFloat16Portable};
constexpr const Kernel* kInt8Kernels[] = {&kInt8Portable};
#endif

constexpr FormatDescription kTable[] = {
    {.format = Format::kFloat32,
     .parts = 0,
     .name = "float32",
     .error = 2e-6,
     .pack = pack_as_stored,
     .kernels = kFloat32Kernels},
    {.format = Format::kBFloat16x6,
     .parts = 3,
     .name = "bfloat16x6",
     .error = 2e-6,
     .pack = pack_as_stored,
     .kernels = kSplitKernels},
    {.format = Format::kBFloat16x3,
     .parts = 2,
     .name = "bfloat16x3",
     .error = 3e-5,
     .pack = pack_as_stored,
     .kernels = kSplitKernels},
    {.format = Format::kBFloat16,
     .parts = 1,
     .name = "bfloat16",
     .error = 1e-2,
     .pack = pack_bfloat16,
     .kernels = kBFloat16Kernels},
    {.format = Format::kInt8,
     .is_integer = true,
     .attends = false,
     .parts = 0,
     .name = "int8",
     .error = 5e-2,
     .pack = pack_int8,
     .kernels = kInt8Kernels},
};
static_assert(std::size(kTable) == kFormats);

}  // namespace

std::span<const FormatDescription> formats() { return kTable; }

const FormatDescription& description_of(Format format) {
  return kTable[static_cast<size_t>(format)];
}

}  // namespace gemm
