#include "packed/numbers.h"

#include <algorithm>
#include <optional>

#include "kernels/cpu.h"

namespace backend {
namespace {

using enum kernels::Format;
using kernels::Instructions;
using kernels::Vendor;

constexpr Numbers layers_in(Dtype dtype) { return {.linear = dtype, .attention = kFloat32}; }
constexpr Numbers all_in(Dtype dtype) { return {.linear = dtype, .attention = dtype}; }
constexpr Numbers kIntegersAndBFloat16 = {.linear = kInt8, .attention = kBFloat16};

/// What a number format gets on a kind of processor.
struct Entry {
  Dtype dtype;  ///< of DTYPE
  Instructions needs;
  std::optional<Vendor> vendor;  ///< nothing: any
  Numbers by_default;
  Numbers at_most;           ///< with PRODUCTS=bfloat16
  const char* problem = "";  ///< why the format is of no use, unless PRODUCTS asks for it
};

/// The first that fits counts. What nobody has measured on such a processor is not the default.
///
/// Zen 4 (AMD, AVX512-BF16), bench/products.cc: layers 2.0 to 2.3 times as fast as in float32,
/// heads of attention of 32, 128 and 512 tokens 1.1 to 1.3, 1.4 to 1.5 and 1.5 to 1.7 times.
/// Emerald Rapids (Intel, AVX512-BF16), bench/formats.mjs: 0.76 times; on Intel's the instruction
/// is issued once in four of an FMA's, and does the work of two.
constexpr Entry kTable[] = {
    {kFloat32, 0, {}, layers_in(kFloat32), layers_in(kFloat32)},
    {kBFloat16, kernels::kAvx512bf16, Vendor::kIntel, layers_in(kBFloat16), all_in(kBFloat16),
     "Intel's AVX512-BF16 is slower than float32"},
    {kBFloat16, kernels::kAvx512bf16, Vendor::kAmd, all_in(kBFloat16), all_in(kBFloat16)},
    {kBFloat16, kernels::kAvx512bf16, {}, layers_in(kBFloat16), all_in(kBFloat16)},
    // The same answers whatever multiplies the integers of its layers, so attention stays float32
    // unless PRODUCTS asks otherwise.
    {kInt8, kernels::kAvx2 | kernels::kAvx512bf16, {}, layers_in(kInt8), kIntegersAndBFloat16},
    {kInt8, kernels::kAvx2, {}, layers_in(kInt8), layers_in(kInt8)},
};

/// Null: the processor lacks the instructions.
const Entry* find_entry(Dtype dtype, const kernels::Processor& processor) {
  const auto* const found = std::ranges::find_if(kTable, [&](const Entry& entry) {
    return entry.dtype == dtype && (entry.needs & ~processor.usable) == 0 &&
           (!entry.vendor || entry.vendor == processor.vendor);
  });
  return found != std::end(kTable) ? found : nullptr;
}

/// Whether an entry gives what PRODUCTS asks for.
bool gives(const Entry& entry, ProductNumbers products) {
  return products != ProductNumbers::kBFloat16 || entry.at_most.attention != kFloat32;
}

/// The fewest with which the table has a format: of its entries, the last has least. Nothing: no
/// processor gives what PRODUCTS asks for.
std::optional<Instructions> least_instructions(Dtype dtype, ProductNumbers products) {
  std::optional<Instructions> least;
  for (const Entry& entry : kTable) {
    if (entry.dtype == dtype && gives(entry, products)) least = entry.needs;
  }
  return least;
}

std::string missing_instructions(Dtype dtype, ProductNumbers products) {
  const std::optional<Instructions> least = least_instructions(dtype, products);
  if (!least) {
    const std::string numbers = kernels::description_of(dtype).name;
    return "with DTYPE=" + numbers + " all products are " + numbers;
  }
  const char* const name = (*least & kernels::kAvx512bf16) != 0 ? "AVX512-BF16" : "AVX2";
  const bool is_limited = kernels::chosen_limit() != nullptr;
  return std::string("this processor has no ") + name +
         (is_limited ? ", or INSTRUCTIONS does not allow it" : "");
}

/// "int8 avx512-vnni": the numbers, and the last word of the name of the kernel that multiplies
/// them here.
std::string describe(Dtype dtype) {
  const std::string kernel = kernels::kernel_name(dtype);
  return std::string(kernels::description_of(dtype).name) + " " + kernel.substr(kernel.rfind(' ') + 1);
}

}  // namespace

std::vector<Dtype> dtypes() {
  std::vector<Dtype> all;
  for (const Entry& entry : kTable) {
    if (all.empty() || all.back() != entry.dtype) all.push_back(entry.dtype);
  }
  return all;
}

Numbers choose_numbers(Dtype dtype, ProductNumbers products, const kernels::Processor& processor) {
  const Entry* const entry = find_entry(dtype, processor);
  if (entry == nullptr) return {};
  switch (products) {
    case ProductNumbers::kAuto:
      return entry->by_default;
    case ProductNumbers::kFloat32:
      return {entry->by_default.linear, kFloat32};
    case ProductNumbers::kBFloat16:
      return entry->at_most;
  }
  return {};
}

std::string numbers_problem(Dtype dtype, ProductNumbers products,
                            const kernels::Processor& processor) {
  const Entry* const entry = find_entry(dtype, processor);
  // Of an explicit wish nothing is left out without a word.
  if (entry == nullptr) return missing_instructions(dtype, ProductNumbers::kAuto);
  if (!gives(*entry, products)) return missing_instructions(dtype, products);
  return products == ProductNumbers::kBFloat16 ? "" : entry->problem;
}

std::string dtype_problem(Dtype dtype, ProductNumbers products) {
  return numbers_problem(dtype, products, kernels::this_processor());
}

Numbers choose_numbers(const ComputeOptions& compute) {
  // What is slow is refused where the settings are read; what cannot be had, here, too.
  if (find_entry(compute.dtype, kernels::this_processor()) == nullptr) {
    throw LoadError(std::string("DTYPE: ") + kernels::description_of(compute.dtype).name + ": " +
                    dtype_problem(compute.dtype, compute.products));
  }
  return choose_numbers(compute.dtype, compute.products, kernels::this_processor());
}

Multiplication describe_multiplication(Dtype linear, std::optional<Dtype> attention) {
  return {.linear = describe(linear),
          .attention = attention ? describe(*attention) : "",
          .instructions = kernels::highest_limit(kernels::this_processor().usable)};
}

}  // namespace backend
