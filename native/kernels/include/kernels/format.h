// Number formats of matrix multiplications.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernels {

struct Kernel;
struct PackedWeight;
struct StoredWeight;

/// Format of the factors. Sums are float32; sums of integers are exact. kInt8Vnni: 8 instead of 7
/// bits for the values of rows.
enum class Format : uint8_t { kFloat32, kBFloat16, kInt8, kInt8Vnni };
inline constexpr size_t kFormats = 4;

/// Properties of a format. Code that uses formats reads them here instead of testing for a format.
struct FormatDescription {
  Format format;
  bool is_integer = false;  ///< integers with a scale for each row and output; sums are exact
  /// Number of inputs of a layer above which its sums could overflow. Linear and PackedA use
  /// float32 for such a layer.
  int64_t max_inputs = INT64_MAX;
  const char* name;  ///< value of the setting DTYPE
  /// Maximum error of a product of random matrices, relative to its largest element.
  double error;
  PackedWeight (*pack_b)(const StoredWeight& weight, const Kernel& kernel);
  std::span<const Kernel* const> kernels;  ///< fastest first, the portable kernel last
};

/// All formats, in the order of Format.
std::span<const FormatDescription> formats();

const FormatDescription& description_of(Format format);

/// Name of the kernel that this processor uses for linear layers in the format, for example "int8
/// avx512-vnni", and for attention.
const char* kernel_name(Format format);
const char* attention_kernel_name(Format format);

/// True if this processor has dedicated instructions for the format. Otherwise the portable kernel
/// computes the same results slowly.
bool is_fast(Format format);

}  // namespace kernels
