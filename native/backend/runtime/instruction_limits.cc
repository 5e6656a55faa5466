#include "runtime/instruction_limits.h"

#include <cstdlib>
#include <mutex>

#include "backend/backends.h"

namespace backend {
namespace {

/// A TorchScript model that was saved in bfloat16 or quantized computes with oneDNN, or with MKL's
/// products of bfloat16. oneDNN uses AMX wherever CPUID has its flags, and makes tiles of the size
/// that leaf 0x1D says: of none, on virtual machines that leave the leaf out. What comes before AMX
/// has all other instructions of these processors.
struct Limit {
  const char* variable;
  const char* older_name;  ///< or null
  const char* value;
};
constexpr Limit kLimits[] = {
    {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16"},
    {"MKL_ENABLE_INSTRUCTIONS", nullptr, "AVX512_E3"},
};

bool is_set(const char* variable) {
  return variable != nullptr && std::getenv(variable) != nullptr;
}

}  // namespace

bool is_matrix_unit_unsafe(const gemm::Processor& processor) {
  const bool is_usable = (processor.usable & gemm::kAmxTile) != 0 && processor.describes_tiles;
  return processor.claims_tiles && !is_usable;
}

void limit_instructions(const gemm::Processor& processor) {
  if (!is_matrix_unit_unsafe(processor)) return;
  for (const Limit& limit : kLimits) {
    if (!is_set(limit.variable) && !is_set(limit.older_name))
      setenv(limit.variable, limit.value, 0);
  }
}

void limit_instructions() {
  static std::once_flag once;
  std::call_once(once, [] { limit_instructions(gemm::this_processor()); });
}

}  // namespace backend
