// Number formats: in what the factors of products are multiplied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernels {

struct Kernel;
struct PackedWeight;
struct StoredWeight;

/// Sums are float32, but those of int8, which are integers.
enum class Format : uint8_t { kFloat32, kBFloat16, kInt8 };
inline constexpr size_t kFormats = 3;

/// All that is different about a format. What uses formats reads it here and names none.
struct FormatDescription {
  Format format;
  bool is_integer = false;  ///< whole numbers and a scale for each row and output; sums are exact
  bool attends = true;  ///< whether attention multiplies in it; where not, it does so in float32
  /// Inputs of a layer beyond which its sums could overflow. Linear and Rows take float32 for such
  /// a layer.
  int64_t max_inputs = INT64_MAX;
  const char* name;  ///< as users write it
  /// How far products of random numbers are off at most, relative to the largest of them.
  double error;
  PackedWeight (*pack)(const StoredWeight& weight, const Kernel& kernel);
  std::span<const Kernel* const> kernels;  ///< the fastest first, the portable one last
};

/// In the order of Format.
std::span<const FormatDescription> formats();

const FormatDescription& description_of(Format format);

/// Name of the kernel that this processor uses for the format: "int8 avx512-vnni".
const char* kernel_name(Format format);

/// Whether this processor has instructions that are made for such products. Without, they are
/// right, but slow.
bool is_fast(Format format);

}  // namespace kernels
