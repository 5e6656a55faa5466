#include "runtime/instruction_limits.h"

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "backend/backends.h"

namespace backend {
namespace {

/// Values of the environment variables for a limit; null: the variable is not set.
struct Variables {
  const char* limit;
  const char* aten;    ///< ATEN_CPU_CAPABILITY: LibTorch's kernels
  const char* onednn;  ///< ONEDNN_MAX_CPU_ISA
  const char* mkl;     ///< MKL_ENABLE_INSTRUCTIONS: has an effect on Intel processors only
  const char* cbwr;    ///< MKL_CBWR: also on other processors, where MKL uses at most AVX2
};

/// oneMKL's AVX512_E1 adds VNNI, E3 bfloat16, E4 AMX. Source: oneMKL, Developer Reference,
/// mkl_enable_instructions; oneDNN, CPU Dispatcher Control.
constexpr Variables kVariables[] = {
    {"portable", "default", "SSE41", "SSE4_2", "COMPATIBLE"},
    {"avx2", "avx2", "AVX2", "AVX2", nullptr},
    {"avx512", "avx512", "AVX512_CORE", "AVX512", nullptr},
    {"avx512-vnni", "avx512", "AVX512_CORE_VNNI", "AVX512_E1", nullptr},
    {"avx512-bf16", "avx512", "AVX512_CORE_BF16", "AVX512_E3", nullptr},
    {"amx", "avx512", "AVX512_CORE_AMX", "AVX512_E4", nullptr},
};

/// All instructions of processors with AMX, except AMX. bfloat16 and quantized TorchScript models
/// compute with oneDNN or MKL, which request permission for AMX from Linux and work without it. But
/// oneDNN uses the tile size of CPUID leaf 0x1D, which is 0 on virtual machines that omit the leaf.
constexpr Variables kWithoutAmx = {"", nullptr, "AVX512_CORE_BF16", "AVX512_E3", nullptr};

void set(const char* variable, const char* value, const char* older_name = nullptr) {
  if (value == nullptr || (older_name != nullptr && std::getenv(older_name) != nullptr)) return;
  setenv(variable, value, /*overwrite=*/0);
}

void set(const Variables& variables) {
  set("ATEN_CPU_CAPABILITY", variables.aten);
  set("ONEDNN_MAX_CPU_ISA", variables.onednn, "DNNL_MAX_CPU_ISA");
  set("MKL_ENABLE_INSTRUCTIONS", variables.mkl);
  set("MKL_CBWR", variables.cbwr);
}

}  // namespace

void limit_instructions(const kernels::Processor& processor,
                        const kernels::InstructionLimit* limit) {
#if defined(__x86_64__)
  for (const Variables& variables : kVariables) {
    if (limit != nullptr && limit->name == std::string_view(variables.limit)) set(variables);
  }
  if (processor.is_amx_inconsistent) set(kWithoutAmx);
#else
  static_cast<void>(processor);
  static_cast<void>(limit);
#endif
}

void limit_instructions() {
  static std::once_flag once;
  std::call_once(once,
                 [] { limit_instructions(kernels::this_processor(), kernels::chosen_limit()); });
}

std::string instructions_problem() { return kernels::limit_problem(); }

std::vector<std::string> available_instructions() { return kernels::available_limits(); }

}  // namespace backend
