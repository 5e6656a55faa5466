// Selection of compute data types by settings and processor.
#include "runtime/compute_types.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "kernels/cpu.h"

namespace {

using backend::AttentionPrecision;
using backend::choose_compute_types;
using backend::compute_types_problem;
using backend::ComputeTypes;
using backend::Dtype;
using kernels::Processor;
using kernels::Vendor;

/// Processor restricted to a limit. Aborts for an unknown limit, also in constant initializers.
Processor processor_of(Vendor vendor, std::string_view limit) noexcept {
  for (const auto& each : kernels::instruction_limits()) {
    if (each.name == limit) return {.vendor = vendor, .usable = each.instructions};
  }
  ADD_FAILURE() << limit;
  return {};
}

/// "linear, attention", or the problem of the settings.
std::string outcome(const Processor& processor, Dtype dtype, AttentionPrecision products) {
  std::string problem = compute_types_problem(dtype, products, processor);
  if (!problem.empty()) return problem;
  const ComputeTypes compute_types = choose_compute_types(dtype, products, processor);
  return std::string(kernels::description_of(compute_types.linear).name) + ", " +
         kernels::description_of(compute_types.attention).name;
}

#if defined(__x86_64__)
constexpr const char* kSlow = "Intel's AVX512-BF16 is slower than float32";

struct Case {
  const char* name;
  Processor processor;
  Dtype dtype;
  const char* by_default;
  const char* in_bfloat16;  ///< ATTENTION_DTYPE=bfloat16
};

void PrintTo(const Case& example, std::ostream* out) { *out << example.name; }

class NumbersTest : public testing::TestWithParam<Case> {};

std::string without_limit(const std::string& text) {
  return text.substr(0, text.find(", or INSTRUCTION_SET"));
}

TEST_P(NumbersTest, AreThoseOfTheTable) {
  const auto& [name, processor, dtype, by_default, in_bfloat16] = GetParam();
  EXPECT_EQ(without_limit(outcome(processor, dtype, AttentionPrecision::kAuto)), by_default);
  EXPECT_EQ(without_limit(outcome(processor, dtype, AttentionPrecision::kBFloat16)), in_bfloat16);
  // float32 also computes attention in float32.
  const ComputeTypes compute_types =
      choose_compute_types(dtype, AttentionPrecision::kFloat32, processor);
  EXPECT_EQ(compute_types.attention, Dtype::kFloat32);
  EXPECT_EQ(compute_types.linear,
            choose_compute_types(dtype, AttentionPrecision::kAuto, processor).linear);
}

const Processor kZen3 = processor_of(Vendor::kAmd, "avx2");
const Processor kZen4 = processor_of(Vendor::kAmd, "avx512-bf16");
const Processor kIceLake = processor_of(Vendor::kIntel, "avx512-vnni");
const Processor kEmeraldRapids = processor_of(Vendor::kIntel, "avx512-bf16");
const Processor kEmeraldRapidsWithAmx = processor_of(Vendor::kIntel, "amx");
const Processor kOther = processor_of(Vendor::kOther, "avx512-bf16");
const Processor kOld = processor_of(Vendor::kIntel, "portable");

constexpr const char* kFloat32Only = "with DTYPE=float32 all products are float32";
constexpr const char* kNoBf16 = "this processor has no AVX512-BF16";

INSTANTIATE_TEST_SUITE_P(
    Processors, NumbersTest,
    testing::Values(
        Case{"Zen3Float32", kZen3, Dtype::kFloat32, "float32, float32", kFloat32Only},
        Case{"Zen4Float32", kZen4, Dtype::kFloat32, "float32, float32", kFloat32Only},
        Case{"Zen3BFloat16", kZen3, Dtype::kBFloat16, kNoBf16, kNoBf16},
        Case{"IceLakeBFloat16", kIceLake, Dtype::kBFloat16, kNoBf16, kNoBf16},
        Case{"Zen4BFloat16", kZen4, Dtype::kBFloat16, "bfloat16, bfloat16", "bfloat16, bfloat16"},
        Case{"EmeraldRapidsBFloat16", kEmeraldRapids, Dtype::kBFloat16, kSlow,
             "bfloat16, bfloat16"},
        Case{"AmxBFloat16", kEmeraldRapidsWithAmx, Dtype::kBFloat16, "bfloat16, bfloat16",
             "bfloat16, bfloat16"},
        Case{"AmxInt8", kEmeraldRapidsWithAmx, Dtype::kInt8, "int8, int8", "int8, bfloat16"},
        Case{"OtherBFloat16", kOther, Dtype::kBFloat16, "bfloat16, float32", "bfloat16, bfloat16"},
        Case{"Zen3Int8", kZen3, Dtype::kInt8, "int8, int8", kNoBf16},
        Case{"IceLakeInt8", kIceLake, Dtype::kInt8, "int8, int8", kNoBf16},
        Case{"Zen4Int8", kZen4, Dtype::kInt8, "int8, int8", "int8, bfloat16"},
        Case{"Zen3Int8Vnni", kZen3, Dtype::kInt8Vnni, "this processor has no AVX512-VNNI",
             "this processor has no AVX512-VNNI"},
        Case{"IceLakeInt8Vnni", kIceLake, Dtype::kInt8Vnni, "int8-vnni, int8", kNoBf16},
        Case{"Zen4Int8Vnni", kZen4, Dtype::kInt8Vnni, "int8-vnni, int8", "int8-vnni, bfloat16"},
        Case{"OldInt8", kOld, Dtype::kInt8, "this processor has no AVX2",
             "this processor has no AVX2"},
        Case{"OldFloat32", kOld, Dtype::kFloat32, "float32, float32", kFloat32Only}),
    [](const testing::TestParamInfo<Case>& info) { return info.param.name; });
#endif

/// The description matches the kernels of this process.
TEST(ComputeTypes, AreDescribedWithTheirKernel) {
  const auto described = backend::describe_kernels(Dtype::kFloat32, Dtype::kFloat32);
  EXPECT_EQ(described.linear,
            std::string("float32 ") + kernels::kernel_name(kernels::Format::kFloat32));
  EXPECT_EQ(described.attention, described.linear);
  EXPECT_EQ(described.instructions, kernels::highest_limit(kernels::this_processor().usable));
  EXPECT_EQ(backend::describe_kernels(Dtype::kFloat32).attention, "");
}

}  // namespace
