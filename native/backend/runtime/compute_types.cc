#include "runtime/compute_types.h"

#include <algorithm>
#include <optional>

#include "common/error.h"
#include "kernels/cpu.h"

namespace backend {
namespace {

using enum kernels::Format;
using kernels::Instructions;
using kernels::Vendor;

constexpr ComputeTypes linear_only(Dtype dtype) { return {.linear = dtype, .attention = kFloat32}; }
constexpr ComputeTypes linear_and_attention(Dtype dtype) {
  return {.linear = dtype, .attention = dtype};
}
constexpr ComputeTypes kInt8WithBFloat16Attention = {.linear = kInt8, .attention = kBFloat16};
constexpr ComputeTypes kEightBits = {.linear = kInt8Vnni, .attention = kInt8};
constexpr ComputeTypes kEightBitsWithBFloat16Attention = {.linear = kInt8Vnni,
                                                          .attention = kBFloat16};

/// Row of the table: data types for a DTYPE on a kind of processor.
struct Entry {
  Dtype dtype;  ///< value of the setting DTYPE
  Instructions needs;
  std::optional<Vendor> vendor;  ///< empty: any
  ComputeTypes default_types;
  ComputeTypes with_bfloat16_attention;  ///< if ATTENTION_DTYPE is bfloat16
  const char* problem =
      "";  ///< why the data type is not useful; ignored if ATTENTION_DTYPE is bfloat16
};

/// The first matching row applies. Defaults are measured.
///
/// Zen 4 (AMD, AVX512-BF16), bench/products.cc: linear layers 2.0 to 2.3 times as fast as float32;
/// attention heads of 32, 128 and 512 tokens 1.1 to 1.3, 1.4 to 1.5 and 1.5 to 1.7 times. Emerald
/// Rapids (Intel, AVX512-BF16), bench/formats.mjs: 0.76 times, because Intel issues the instruction
/// in one of four cycles of an FMA's. With AMX, bench/products.cc: linear layers 4.1 to 4.4 times,
/// attention heads of 32, 128 and 512 tokens 0.9 to 1.1, 1.5 to 1.9 and 1.9 to 2.6 times.
constexpr Entry kTable[] = {
    {kFloat32, 0, {}, linear_only(kFloat32), linear_only(kFloat32)},
    {kBFloat16,
     kernels::kAmxBf16,
     {},
     linear_and_attention(kBFloat16),
     linear_and_attention(kBFloat16)},
    {kBFloat16, kernels::kAvx512bf16, Vendor::kIntel, linear_only(kBFloat16),
     linear_and_attention(kBFloat16), "Intel's AVX512-BF16 is slower than float32"},
    {kBFloat16, kernels::kAvx512bf16, Vendor::kAmd, linear_and_attention(kBFloat16),
     linear_and_attention(kBFloat16)},
    {kBFloat16, kernels::kAvx512bf16, {}, linear_only(kBFloat16), linear_and_attention(kBFloat16)},
    // int8 results do not depend on the kernel, so attention is int8 unless ATTENTION_DTYPE is set.
    {kInt8,
     kernels::kAvx2 | kernels::kAvx512bf16,
     {},
     linear_and_attention(kInt8),
     kInt8WithBFloat16Attention},
    {kInt8, kernels::kAvx2, {}, linear_and_attention(kInt8), linear_only(kInt8)},
    // Layers read 8 bits instead of 7; attention is that of int8.
    {kInt8Vnni,
     kernels::kAvx512vnni | kernels::kAvx512bf16,
     {},
     kEightBits,
     kEightBitsWithBFloat16Attention},
    {kInt8Vnni, kernels::kAvx512vnni, {}, kEightBits, linear_only(kInt8Vnni)},
};

/// First matching row; null if the processor lacks the instructions.
const Entry* find_entry(Dtype dtype, const kernels::Processor& processor) {
  const auto* const found = std::ranges::find_if(kTable, [&](const Entry& entry) {
    return entry.dtype == dtype && (entry.needs & ~processor.usable) == 0 &&
           (!entry.vendor || entry.vendor == processor.vendor);
  });
  return found != std::end(kTable) ? found : nullptr;
}

/// True if the row supports the value of ATTENTION_DTYPE.
bool provides(const Entry& entry, AttentionPrecision precision) {
  return precision != AttentionPrecision::kBFloat16 ||
         entry.with_bfloat16_attention.attention != kFloat32;
}

/// Instructions required for the settings: those of the last matching row. Empty if no processor
/// supports the settings.
std::optional<Instructions> required_instructions(Dtype dtype, AttentionPrecision precision) {
  std::optional<Instructions> least;
  for (const Entry& entry : kTable) {
    if (entry.dtype == dtype && provides(entry, precision)) least = entry.needs;
  }
  return least;
}

const char* name_of(Instructions needed) {
  if ((needed & kernels::kAvx512bf16) != 0) return "AVX512-BF16";
  return (needed & kernels::kAvx512vnni) != 0 ? "AVX512-VNNI" : "AVX2";
}

std::string missing_instructions(Dtype dtype, AttentionPrecision precision) {
  const std::optional<Instructions> least = required_instructions(dtype, precision);
  if (!least) {
    const std::string numbers = kernels::description_of(dtype).name;
    return "with DTYPE=" + numbers + " all products are " + numbers;
  }
  const bool is_limited = kernels::chosen_limit() != nullptr;
  return std::string("this processor has no ") + name_of(*least) +
         (is_limited ? ", or INSTRUCTION_SET does not allow it" : "");
}

/// "int8 avx512-vnni": the data type, and the last word of the kernel's name.
std::string describe(Dtype dtype, const std::string& kernel) {
  return std::string(kernels::description_of(dtype).name) + " " +
         kernel.substr(kernel.rfind(' ') + 1);
}

}  // namespace

std::vector<Dtype> dtypes() {
  std::vector<Dtype> all;
  for (const Entry& entry : kTable) {
    if (all.empty() || all.back() != entry.dtype) all.push_back(entry.dtype);
  }
  return all;
}

ComputeTypes choose_compute_types(Dtype dtype, AttentionPrecision precision,
                                  const kernels::Processor& processor) {
  const Entry* const entry = find_entry(dtype, processor);
  if (entry == nullptr) return {};
  switch (precision) {
    case AttentionPrecision::kAuto:
      return entry->default_types;
    case AttentionPrecision::kFloat32:
      return {entry->default_types.linear, kFloat32};
    case AttentionPrecision::kBFloat16:
      return entry->with_bfloat16_attention;
  }
  return {};
}

std::string compute_types_problem(Dtype dtype, AttentionPrecision precision,
                                  const kernels::Processor& processor) {
  const Entry* const entry = find_entry(dtype, processor);
  // An explicit setting is never ignored silently.
  if (entry == nullptr) return missing_instructions(dtype, AttentionPrecision::kAuto);
  if (!provides(*entry, precision)) return missing_instructions(dtype, precision);
  return precision == AttentionPrecision::kBFloat16 ? "" : entry->problem;
}

std::string dtype_problem(Dtype dtype, AttentionPrecision precision) {
  return compute_types_problem(dtype, precision, kernels::this_processor());
}

ComputeTypes choose_compute_types(const ComputeOptions& compute) {
  // The settings are validated when they are read; here only unsupported data types are rejected.
  if (find_entry(compute.dtype, kernels::this_processor()) == nullptr) {
    throw common::LoadError(std::string("DTYPE: ") + kernels::description_of(compute.dtype).name +
                            ": " + dtype_problem(compute.dtype, compute.attention_precision));
  }
  return choose_compute_types(compute.dtype, compute.attention_precision,
                              kernels::this_processor());
}

KernelsInUse describe_kernels(Dtype linear, std::optional<Dtype> attention) {
  const auto of_attention = [](Dtype dtype) {
    return describe(dtype, kernels::attention_kernel_name(dtype));
  };
  return {.linear = describe(linear, kernels::kernel_name(linear)),
          .attention = attention ? of_attention(*attention) : "",
          .instructions = kernels::highest_limit(kernels::this_processor().usable)};
}

}  // namespace backend
