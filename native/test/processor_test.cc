// Usable instructions with simulated results of CPUID and XGETBV.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "elementwise/elementwise.h"
#include "kernels/cpu.h"
#include "matmul/kernel.h"

namespace {

using kernels::Instructions;
using kernels::Processor;

enum Register : uint8_t { kEax, kEbx, kEcx, kEdx };

/// The CPUID flag of an instruction set, copied independently from the manual.
struct Flag {
  Instructions instruction;
  uint32_t leaf, subleaf;
  Register place;
  uint32_t bit;
  Instructions upon;  ///< required instructions
  uint64_t state;     ///< required bits of XCR0
};
constexpr Flag kFlags[] = {
    {kernels::kSse3, 1, 0, kEcx, 0, 0, 0},
    {kernels::kSsse3, 1, 0, kEcx, 9, 0, 0},
    {kernels::kFma, 1, 0, kEcx, 12, kernels::kAvx, 0x6},
    {kernels::kSse41, 1, 0, kEcx, 19, 0, 0},
    {kernels::kSse42, 1, 0, kEcx, 20, 0, 0},
    {kernels::kPopcnt, 1, 0, kEcx, 23, 0, 0},
    {kernels::kXsave, 1, 0, kEcx, 27, 0, 0},
    {kernels::kAvx, 1, 0, kEcx, 28, kernels::kXsave, 0x6},
    {kernels::kF16c, 1, 0, kEcx, 29, kernels::kAvx, 0x6},
    {kernels::kAvx2, 7, 0, kEbx, 5, kernels::kAvx, 0x6},
    {kernels::kAvx512f, 7, 0, kEbx, 16, kernels::kAvx2, 0xe6},
    {kernels::kAvx512dq, 7, 0, kEbx, 17, kernels::kAvx512f, 0xe6},
    {kernels::kAvx512bw, 7, 0, kEbx, 30, kernels::kAvx512f, 0xe6},
    {kernels::kAvx512vl, 7, 0, kEbx, 31, kernels::kAvx512f, 0xe6},
    {kernels::kAvx512vnni, 7, 0, kEcx, 11, kernels::kAvx512f, 0xe6},
    {kernels::kAvx512bf16, 7, 1, kEax, 5, kernels::kAvx512f | kernels::kAvx512bw, 0xe6},
    {kernels::kAmxBf16, 7, 0, kEdx, 22, kernels::kAvx512f | kernels::kAmxTile, 0x600e6},
    {kernels::kAmxTile, 7, 0, kEdx, 24, kernels::kAvx512f, 0x600e6},
    {kernels::kAmxInt8, 7, 0, kEdx, 25, kernels::kAvx512f | kernels::kAmxTile, 0x600e6},
};
constexpr Instructions kAmx = kernels::kAmxTile | kernels::kAmxInt8 | kernels::kAmxBf16;
constexpr Instructions kSse =
    kernels::kSse3 | kernels::kSsse3 | kernels::kSse41 | kernels::kSse42 | kernels::kPopcnt;
constexpr Instructions kAvx512 = kernels::kAvx512f | kernels::kAvx512dq | kernels::kAvx512bw |
                                 kernels::kAvx512vl | kernels::kAvx512vnni | kernels::kAvx512bf16 |
                                 kAmx;
constexpr Instructions kAll = kernels::kAllInstructions;
constexpr uint64_t kAllStates = 0x602e7;

/// AMX_BF16, AMX_TILE and AMX_INT8: CPUID leaf 7, EDX.
constexpr uint32_t kAmxFlags[] = {1U << 22, 1U << 24, 1U << 25};

/// A processor with all features, which tests hide.
class MadeUp final : public kernels::ProcessorQueries {
 public:
  MadeUp() {
    leaves[{0, 0}][kEax] = 0x20;
    leaves[{7, 0}][kEax] = 1;  // highest subleaf
    for (const Flag& flag : kFlags) {
      leaves[{flag.leaf, flag.subleaf}][flag.place] |= 1U << flag.bit;
    }
    leaves[{0x1d, 0}] = {1, 0, 0, 0};
    leaves[{0x1d, 1}] = {1024U << 16 | 8192U, 8U << 16 | 64U, 16, 0};
  }

  /// CPUID above the highest leaf returns the data of the highest leaf; here all flags.
  Registers cpuid(uint32_t leaf, uint32_t subleaf) const override {
    if (leaf > leaves.at({0, 0})[kEax]) return {~0U, ~0U, ~0U, ~0U};
    const auto found = leaves.find({leaf, subleaf});
    return found != leaves.end() ? found->second : Registers{};
  }

  uint64_t xcr0() const override {
    EXPECT_NE(leaves.at({1, 0})[kEcx] >> 27 & 1, 0U) << "XGETBV without OSXSAVE: illegal";
    return state;
  }

  bool request_tiles() const override {
    EXPECT_NE(leaves.at({7, 0})[kEdx] & kAmxFlags[1], 0U);
    return grants_tiles;
  }

  void hide(Instructions instructions) {
    for (const Flag& flag : kFlags) {
      if ((instructions & flag.instruction) == 0) continue;
      leaves[{flag.leaf, flag.subleaf}][flag.place] &= ~(1U << flag.bit);
    }
  }

  bool shows(const Flag& flag) const {
    return (leaves.at({flag.leaf, flag.subleaf})[flag.place] >> flag.bit & 1) != 0;
  }

  std::map<std::pair<uint32_t, uint32_t>, Registers> leaves;
  uint64_t state = kAllStates;
  bool grants_tiles = true;
};

struct Case {
  std::string what;
  void (*change)(MadeUp& processor);
  Instructions usable;
};

void PrintTo(const Case& example, std::ostream* out) { *out << example.what; }

class ProcessorTest : public testing::TestWithParam<Case> {};

TEST_P(ProcessorTest, RequiresAllConditions) {
  MadeUp made_up;
  GetParam().change(made_up);
  EXPECT_EQ(examine(made_up).usable, GetParam().usable);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, ProcessorTest,
    testing::Values(
        Case{"everything", [](MadeUp&) {}, kAll},
        Case{"nothing", [](MadeUp& p) { p.hide(kAll); }, 0},
        Case{"no leaf but the first", [](MadeUp& p) { p.leaves[{0, 0}][kEax] = 0; }, 0},
        Case{"AVX2 without OSXSAVE", [](MadeUp& p) { p.hide(kernels::kXsave); }, kSse},
        Case{"AVX2 without its state", [](MadeUp& p) { p.state = 0x3; }, kSse | kernels::kXsave},
        Case{"AVX-512 without ZMM registers", [](MadeUp& p) { p.state &= ~uint64_t{0x80}; },
             kAll & ~kAvx512},
        Case{"AVX-512 without mask registers", [](MadeUp& p) { p.state = 0xc7; }, kAll & ~kAvx512},
        Case{"BF16 without AVX512BW", [](MadeUp& p) { p.hide(kernels::kAvx512bw); },
             kAll & ~kernels::kAvx512bw & ~kernels::kAvx512bf16},
        Case{"AMX without tile data", [](MadeUp& p) { p.state &= ~uint64_t{0x40000}; },
             kAll & ~kAmx},
        Case{"AMX that Linux refuses", [](MadeUp& p) { p.grants_tiles = false; }, kAll & ~kAmx},
        Case{"AMX without tile sizes", [](MadeUp& p) { p.leaves[{0x1d, 1}] = {}; }, kAll & ~kAmx},
        Case{"AMX without int8", [](MadeUp& p) { p.hide(kernels::kAmxInt8); },
             kAll & ~kernels::kAmxInt8},
        Case{"leaf 7 without its subleaf 1", [](MadeUp& p) { p.leaves[{7, 0}][kEax] = 0; },
             kAll & ~kernels::kAvx512bf16},
        Case{"leaf 6 the highest", [](MadeUp& p) { p.leaves[{0, 0}][kEax] = 6; },
             kAll & ~kAvx512 & ~kernels::kAvx2}),
    [](const testing::TestParamInfo<Case>& info) { return std::to_string(info.index); });

/// oneDNN relies on leaf 0x1D if CPUID reports AMX.
TEST(Processor, AmxWithoutTileSizesIsInconsistent) {
  using Change = void (*)(MadeUp&);
  const auto is_inconsistent = [](Change change) {
    MadeUp made_up;
    change(made_up);
    return examine(made_up).is_amx_inconsistent;
  };
  EXPECT_FALSE(is_inconsistent([](MadeUp&) {}));
  constexpr Change kIncomplete[] = {
      [](MadeUp& p) { p.leaves[{0x1d, 0}] = p.leaves[{0x1d, 1}] = {}; },
      [](MadeUp& p) { p.leaves[{0x1d, 1}][kEbx] = 0; },  // other tile size
      [](MadeUp& p) { p.leaves[{0, 0}][kEax] = 0x1c; },  // no leaf 0x1D
  };
  for (const Change change : kIncomplete) {
    EXPECT_TRUE(is_inconsistent(change));
    for (const uint32_t flag : kAmxFlags) {
      MadeUp made_up;
      change(made_up);
      for (const uint32_t each : kAmxFlags) made_up.leaves[{7, 0}][kEdx] &= ~each;
      EXPECT_FALSE(examine(made_up).is_amx_inconsistent);
      made_up.leaves[{7, 0}][kEdx] |= flag;
      EXPECT_TRUE(examine(made_up).is_amx_inconsistent) << flag;
      EXPECT_TRUE(examine(made_up, 0).is_amx_inconsistent) << flag;
    }
  }
}

TEST(Processor, UsesAllowedInstructionsOnly) {
  for (const auto& limit : kernels::instruction_limits()) {
    const MadeUp made_up;
    const Processor processor = examine(made_up, limit.instructions);
    EXPECT_EQ(processor.usable, limit.instructions) << limit.name;
  }
}

TEST(Processor, ReportsItsVendor) {
  const auto vendor_of = [](const char* name) {
    MadeUp made_up;
    auto& leaf0 = made_up.leaves[{0, 0}];
    std::memcpy(&leaf0[kEbx], name, 4);
    std::memcpy(&leaf0[kEdx], name + 4, 4);
    std::memcpy(&leaf0[kEcx], name + 8, 4);
    return examine(made_up).vendor;
  };
  EXPECT_EQ(vendor_of("GenuineIntel"), kernels::Vendor::kIntel);
  EXPECT_EQ(vendor_of("AuthenticAMD"), kernels::Vendor::kAmd);
  EXPECT_EQ(vendor_of("HygonGenuine"), kernels::Vendor::kOther);
}

/// Usable instructions always have their flag, their saved registers and their required
/// instructions.
TEST(Processor, RequiresPrerequisites) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    MadeUp made_up;
    // Hides 1/2, 1/4 or 1/8 of the bits.
    const auto mask = [&] {
      uint64_t bits = random();
      if (round % 2 == 0) bits &= random();
      if (round % 4 == 0) bits &= random();
      return bits;
    };
    for (auto& [place, answer] : made_up.leaves) {
      if (place.first == 0) continue;
      for (uint32_t& part : answer) part &= ~static_cast<uint32_t>(mask());
    }
    made_up.leaves[{0, 0}][kEax] = round % 3 == 0 ? static_cast<uint32_t>(random() % 0x21) : 0x20;
    made_up.state &= ~mask();
    const Processor processor = examine(made_up);
    const uint32_t highest = made_up.leaves.at({0, 0})[kEax];
    for (const Flag& flag : kFlags) {
      if ((processor.usable & flag.instruction) == 0) continue;
      ASSERT_LE(flag.leaf, highest);
      if (flag.subleaf > 0) {
        ASSERT_GE(made_up.leaves.at({7, 0})[kEax], 1U);
      }
      ASSERT_TRUE(made_up.shows(flag));
      ASSERT_EQ(flag.upon & ~processor.usable, 0U);
      ASSERT_EQ(flag.state & ~made_up.state, 0U);
    }
  }
}

/// kCompiledFor includes instruction sets that a compiler option implies.
TEST(Processor, KernelsRequireTheirCompilerOptions) {
#if defined(__x86_64__)
  const auto needs = [](const auto& kernel, Instructions wanted) {
    EXPECT_EQ(wanted & ~kernel.needs, 0U) << kernel.name;
  };
  constexpr Instructions kAvx2 = kSse | kernels::kXsave | kernels::kAvx | kernels::kAvx2;
  needs(kernels::kFloat32Avx2, kAvx2 | kernels::kFma | kernels::kF16c);
  needs(kernels::kFloat32Avx512, kAvx2 | kernels::kFma | kernels::kF16c | kernels::kAvx512f);
  needs(kernels::kElementwiseAvx2, kAvx2 | kernels::kFma | kernels::kF16c);
  needs(kernels::kElementwiseAvx512, kAvx2 | kernels::kFma | kernels::kF16c | kernels::kAvx512f);
  needs(kernels::kInt8Avx2, kAvx2);
  needs(kernels::kInt8Avx512, kAvx2 | kernels::kAvx512f | kernels::kAvx512vnni);
  needs(kernels::kBFloat16Avx512,
        kAvx2 | kernels::kAvx512f | kernels::kAvx512bw | kernels::kAvx512bf16);
  needs(kernels::kInt8Amx,
        kAvx2 | kernels::kAvx512f | kernels::kAvx512vnni | kernels::kAmxTile | kernels::kAmxInt8);
  needs(kernels::kBFloat16Amx, kAvx2 | kernels::kAvx512f | kernels::kAvx512bw |
                                   kernels::kAvx512bf16 | kernels::kAmxTile | kernels::kAmxBf16);
  EXPECT_EQ(kernels::kFloat32Avx2.needs & kAvx512, 0U);
#endif
  EXPECT_EQ(kernels::kFloat32Portable.needs, kernels::kInt8Portable.needs);
  EXPECT_EQ(kernels::kFloat32Portable.needs & ~kernels::this_processor().usable, 0U);
}

#if defined(__x86_64__)
/// Compared with the compiler's runtime, which does not check the prerequisites of AVX.
TEST(Processor, AgreesWithTheCompiler) {
  const Instructions usable = kernels::examine_all().usable;
  const bool is_masked_oddly =
      __builtin_cpu_supports("sse3") == 0 || __builtin_cpu_supports("ssse3") == 0 ||
      __builtin_cpu_supports("sse4.1") == 0 || __builtin_cpu_supports("sse4.2") == 0;
  const auto expect = [&](Instructions instructions, int is_supported) {
    EXPECT_EQ((usable & instructions) != 0, is_supported != 0 && !is_masked_oddly) << instructions;
  };
  expect(kernels::kAvx2, __builtin_cpu_supports("avx2"));
  expect(kernels::kFma, __builtin_cpu_supports("fma"));
  expect(kernels::kF16c, __builtin_cpu_supports("f16c"));
  expect(kernels::kAvx512f, __builtin_cpu_supports("avx512f"));
  expect(kernels::kAvx512vnni, __builtin_cpu_supports("avx512vnni"));
  expect(kernels::kAvx512bf16, __builtin_cpu_supports("avx512bf16"));
}
#endif

}  // namespace
