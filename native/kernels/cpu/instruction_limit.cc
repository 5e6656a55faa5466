#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "kernels/cpu.h"

namespace kernels {
namespace {

constexpr const char* kVariable = "INSTRUCTION_SET";

#if defined(__x86_64__)
constexpr Instructions kAvx2Limit =
    kSse3 | kSsse3 | kSse41 | kSse42 | kPopcnt | kXsave | kAvx | kF16c | kFma | kAvx2;
/// LibTorch and oneDNN use AVX-512 only if all of these are available.
constexpr Instructions kAvx512Limit = kAvx2Limit | kAvx512f | kAvx512dq | kAvx512bw | kAvx512vl;
constexpr Instructions kVnniLimit = kAvx512Limit | kAvx512vnni;
constexpr Instructions kBf16Limit = kVnniLimit | kAvx512bf16;
constexpr InstructionLimit kLimits[] = {
    {"portable", 0},
    {"avx2", kAvx2Limit},
    {"avx512", kAvx512Limit},
    {"avx512-vnni", kVnniLimit},
    {"avx512-bf16", kBf16Limit},
    {"amx", kBf16Limit | kAmxTile | kAmxInt8 | kAmxBf16},
};
#else
constexpr InstructionLimit kLimits[] = {{"portable", 0}};
#endif

/// Value of the environment variable; empty if it is unset.
std::string_view requested() {
  static const char* const value = std::getenv(kVariable);
  return value != nullptr ? value : "";
}

bool has_all(const InstructionLimit& limit, Instructions usable) {
  return (limit.instructions & ~usable) == 0;
}

}  // namespace

std::span<const InstructionLimit> instruction_limits() { return kLimits; }

const InstructionLimit* chosen_limit() {
  const auto* const found =
      std::ranges::find_if(kLimits, [](const auto& limit) { return limit.name == requested(); });
  return found != std::end(kLimits) ? found : nullptr;
}

std::vector<std::string> available_limits() {
  const Instructions usable = examine_all().usable;
  std::vector<std::string> names;
  for (const InstructionLimit& limit : kLimits) {
    if (has_all(limit, usable)) names.emplace_back(limit.name);
  }
  return names;
}

std::string limit_problem() {
  const InstructionLimit* const limit = chosen_limit();
  if (requested().empty() || (limit != nullptr && has_all(*limit, this_processor().usable)))
    return "";
  std::string names;
  for (const std::string& name : available_limits()) names += (names.empty() ? "" : ", ") + name;
  return std::string(kVariable) + ": expected one of " + names +
         " (supported by this machine), received \"" + std::string(requested()) + "\"";
}

const char* highest_limit(Instructions usable) {
  const InstructionLimit* highest = kLimits;
  for (const InstructionLimit& limit : kLimits) {
    if (has_all(limit, usable)) highest = &limit;
  }
  return highest->name;
}

}  // namespace kernels
