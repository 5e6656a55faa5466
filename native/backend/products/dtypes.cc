// Which number formats this processor multiplies faster than float32.
#include "products/dtypes.h"

#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>

#include <cstdio>

#include "gemm/bfloat16_linear.h"
#include "gemm/packed_linear.h"
#include "gemm/quantized_linear.h"
#include "gemm/split_linear.h"
#include "products/measured_gain.h"
#include "products/products.h"
#include "runtime/runtime.h"

namespace backend {
namespace {

/// Of a layer of a small encoder, and of the tokens of a few texts.
constexpr int64_t kOutputs = 1536;
constexpr int64_t kInputs = 384;
constexpr int64_t kRows = 64;
constexpr int kRounds = 9;

/// Below, accuracy would be given away for nothing.
constexpr double kLeastGain = 1.15;

/// How many times faster than float32.
double gain_of(Dtype dtype) {
  set_intra_op_threads(1);
  const c10::InferenceMode inference_mode;
  const at::Tensor x = at::randn({kRows, kInputs});
  const at::Tensor weight = at::randn({kOutputs, kInputs}).to(at::kHalf);
  const auto reference = make_product(weight, {}, Dtype::kFloat32);
  const auto candidate = make_product(weight, {}, dtype);
  const auto multiply = [&x](const Product& product) {
    product(x, 0, kOutputs, gemm::Activation::kNone);
  };
  return measured_gain(kRounds, [&] { multiply(*reference); }, [&] { multiply(*candidate); });
}

/// What failed its trial, or was not there to be tried.
std::string missing(const std::vector<std::string>& warnings, const char* instructions) {
  if (warnings.empty()) return std::string("this processor has no ") + instructions;
  std::string all;
  for (const std::string& warning : warnings) all += (all.empty() ? "" : "; ") + warning;
  return all;
}

}  // namespace

const char* name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32:
      return "float32";
    case Dtype::kBFloat16x3:
      return "bfloat16x3";
    case Dtype::kBFloat16:
      return "bfloat16";
    case Dtype::kInt8:
      return "int8";
  }
  return "";
}

std::string missing_kernel(Dtype dtype) {
  if (dtype == Dtype::kBFloat16x3 && !gemm::SplitLinear::is_fast()) {
    return missing(gemm::SplitLinear::warnings(), "AMX-BF16");
  }
  if (dtype == Dtype::kInt8 && !gemm::QuantizedLinear::is_fast()) {
    return missing(gemm::QuantizedLinear::warnings(), "AVX2");
  }
  if (dtype == Dtype::kBFloat16 && !gemm::BFloat16Linear::is_fast()) {
    return missing(gemm::BFloat16Linear::warnings(), "AVX512-BF16");
  }
  return "";
}

void require_kernel(Dtype dtype) {
  const std::string missing = missing_kernel(dtype);
  if (!missing.empty()) {
    throw LoadError(std::string("DTYPE: ") + name_of(dtype) + ": " + missing);
  }
}

std::vector<std::string> kernel_warnings(Dtype dtype) {
  std::vector<std::string> warnings = gemm::PackedLinear::warnings();
  const auto add = [&warnings](const std::vector<std::string>& more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  };
  if (dtype == Dtype::kFloat32 || dtype == Dtype::kBFloat16x3) add(gemm::SplitLinear::warnings());
  if (dtype == Dtype::kInt8) add(gemm::QuantizedLinear::warnings());
  if (dtype == Dtype::kBFloat16) add(gemm::BFloat16Linear::warnings());
  return warnings;
}

std::string dtype_problem(Dtype dtype) {
  if (dtype == Dtype::kFloat32) return "";
  std::string none = missing_kernel(dtype);
  if (!none.empty()) return none;
  const double gain = gain_of(dtype);
  if (gain >= kLeastGain) return "";
  char text[64];
  std::snprintf(text, sizeof text, "measured now, it runs at %.2f × the speed of float32", gain);
  return text;
}

}  // namespace backend
