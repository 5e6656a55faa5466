// Number formats: in what the factors of products are multiplied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gemm {

struct Kernel;
struct PackedWeight;
struct StoredWeight;

/// Sums are float32, but those of int8, which are integers.
enum class Format : uint8_t {
  kFloat32,
  kBFloat16x6,  ///< float32 as the sum of three bfloat16 numbers: as exact as it
  kBFloat16x3,  ///< as the sum of two: what is below 2⁻¹⁸ of a number is missing
  kBFloat16,
  kInt8
};
inline constexpr size_t kFormats = 5;

/// All that is different about a format. What uses formats reads it here and names none.
struct FormatDescription {
  Format format;
  bool is_integer = false;  ///< whole numbers and a scale for each row and output; sums are exact
  bool attends = true;  ///< whether attention multiplies in it; where not, it does so in float32
  /// Of how many bfloat16 numbers a factor is the sum; 0: it is none of these. The first is the
  /// nearest to the number, each other the nearest to what is missing. Of the products of the parts
  /// those are left out that are too small to matter: of two parts 3 of 4 are summed up, of three 6
  /// of 9 (XLA's BF16_BF16_F32_X3 and _X6).
  int parts;
  const char* name;  ///< as users write it
  /// How far products of random numbers are off at most, relative to the largest of them.
  double error;
  PackedWeight (*pack)(const StoredWeight& weight, const Kernel& kernel);
  std::span<const Kernel* const> kernels;  ///< the fastest first, the portable one last
};

/// In the order of Format.
std::span<const FormatDescription> formats();

const FormatDescription& description_of(Format format);

/// Of the kernel that multiplies here: "int8 amx".
const char* kernel_name(Format format);

/// Whether this processor has instructions that are made for such products. Without, they are
/// right, but slow.
bool is_fast(Format format);

/// Why a faster kernel of this processor is not used, a line each; for the log.
const std::vector<std::string>& kernel_warnings(Format format);

}  // namespace gemm
