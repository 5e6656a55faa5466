// Which instructions are granted, with made-up answers of CPUID, XGETBV and the kernel.
#include "gemm/processor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "elementwise/elementwise.h"
#include "format/kernel.h"
#include "gemm/instruction_limit.h"

namespace {

using gemm::Instructions;
using gemm::Processor;

enum Register : uint8_t { kEax, kEbx, kEcx, kEdx };

/// Where CPUID has the flag of an instruction, written down once more, from the manual.
struct Flag {
  Instructions instruction;
  uint32_t leaf, subleaf;
  Register place;
  uint32_t bit;
  Instructions upon;  ///< cannot be without
  uint64_t state;     ///< of XCR0
};
constexpr Flag kTileFlag = {gemm::kAmxTile, 7, 0, kEdx, 24, gemm::kXsave, 0x60000};
constexpr Flag kFlags[] = {
    {gemm::kSse3, 1, 0, kEcx, 0, 0, 0},
    {gemm::kSsse3, 1, 0, kEcx, 9, 0, 0},
    {gemm::kFma, 1, 0, kEcx, 12, gemm::kAvx, 0x6},
    {gemm::kSse41, 1, 0, kEcx, 19, 0, 0},
    {gemm::kSse42, 1, 0, kEcx, 20, 0, 0},
    {gemm::kPopcnt, 1, 0, kEcx, 23, 0, 0},
    {gemm::kXsave, 1, 0, kEcx, 27, 0, 0},
    {gemm::kAvx, 1, 0, kEcx, 28, gemm::kXsave, 0x6},
    {gemm::kF16c, 1, 0, kEcx, 29, gemm::kAvx, 0x6},
    {gemm::kAvx2, 7, 0, kEbx, 5, gemm::kAvx, 0x6},
    {gemm::kAvx512f, 7, 0, kEbx, 16, gemm::kAvx2, 0xe6},
    {gemm::kAvx512dq, 7, 0, kEbx, 17, gemm::kAvx512f, 0xe6},
    {gemm::kAvx512bw, 7, 0, kEbx, 30, gemm::kAvx512f, 0xe6},
    {gemm::kAvx512vl, 7, 0, kEbx, 31, gemm::kAvx512f, 0xe6},
    {gemm::kAvx512vnni, 7, 0, kEcx, 11, gemm::kAvx512f, 0xe6},
    {gemm::kAvx512bf16, 7, 1, kEax, 5, gemm::kAvx512f | gemm::kAvx512bw, 0xe6},
    {gemm::kAmxBf16, 7, 0, kEdx, 22, gemm::kAmxTile, 0x60000},
    kTileFlag,
    {gemm::kAmxInt8, 7, 0, kEdx, 25, gemm::kAmxTile, 0x60000},
};
constexpr Instructions kSse =
    gemm::kSse3 | gemm::kSsse3 | gemm::kSse41 | gemm::kSse42 | gemm::kPopcnt;
constexpr Instructions kAvx512 = gemm::kAvx512f | gemm::kAvx512dq | gemm::kAvx512bw |
                                 gemm::kAvx512vl | gemm::kAvx512vnni | gemm::kAvx512bf16;
constexpr Instructions kAmx = gemm::kAmx;
constexpr Instructions kAll = gemm::kAllInstructions;
constexpr uint64_t kAllStates = 0x602e7;

/// A processor that has everything, until something is hidden.
class MadeUp final : public gemm::ProcessorQueries {
 public:
  MadeUp() {
    leaves[{0, 0}][kEax] = 0x20;
    leaves[{7, 0}][kEax] = 1;  // the highest subleaf
    for (const Flag& flag : kFlags) {
      leaves[{flag.leaf, flag.subleaf}][flag.place] |= 1U << flag.bit;
    }
    leaves[{0x1d, 0}] = {1, 0, 0, 0};
    leaves[{0x1d, 1}] = {1024U << 16 | 8192U, 8U << 16 | 64U, 16, 0};
  }

  /// Beyond the highest leaf: what the highest one says, here all flags.
  Answer cpuid(uint32_t leaf, uint32_t subleaf) const override {
    if (leaf > leaves.at({0, 0})[kEax]) return {~0U, ~0U, ~0U, ~0U};
    const auto found = leaves.find({leaf, subleaf});
    return found != leaves.end() ? found->second : Answer{};
  }

  uint64_t xcr0() const override {
    EXPECT_NE(leaves.at({1, 0})[kEcx] >> 27 & 1, 0U) << "XGETBV without OSXSAVE: illegal";
    return state;
  }

  bool request_tiles() const override {
    ++requests;
    return permits;
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

  std::map<std::pair<uint32_t, uint32_t>, Answer> leaves;
  uint64_t state = kAllStates;
  bool permits = true;
  mutable int requests = 0;
};

struct Case {
  std::string what;
  void (*change)(MadeUp& processor);
  Instructions usable;
  bool claims_tiles, describes_tiles;
  int requests;
};

void PrintTo(const Case& example, std::ostream* out) { *out << example.what; }

class ProcessorTest : public testing::TestWithParam<Case> {};

TEST_P(ProcessorTest, GrantsWhatHoldsAltogether) {
  MadeUp made_up;
  GetParam().change(made_up);
  const Processor processor = examine(made_up);
  EXPECT_EQ(processor.usable, GetParam().usable);
  EXPECT_EQ(processor.claims_tiles, GetParam().claims_tiles);
  EXPECT_EQ(processor.describes_tiles, GetParam().describes_tiles);
  EXPECT_EQ(made_up.requests, GetParam().requests);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, ProcessorTest,
    testing::Values(
        Case{"everything", [](MadeUp&) {}, kAll, true, true, 1},
        Case{"nothing", [](MadeUp& p) { p.hide(kAll); }, 0, false, false, 0},
        Case{"no leaf but the first", [](MadeUp& p) { p.leaves[{0, 0}][kEax] = 0; }, 0, false,
             false, 0},
        Case{"AVX2 without OSXSAVE", [](MadeUp& p) { p.hide(gemm::kXsave); }, kSse, true, true, 0},
        Case{"AVX2 without its state", [](MadeUp& p) { p.state = 0x3; }, kSse | gemm::kXsave, true,
             true, 0},
        Case{"AVX-512 without ZMM registers", [](MadeUp& p) { p.state &= ~uint64_t{0x80}; },
             kAll & ~kAvx512, true, true, 1},
        Case{"AVX-512 without mask registers", [](MadeUp& p) { p.state = 0xc7; },
             kAll & ~kAvx512 & ~kAmx, true, true, 0},
        Case{"BF16 without AVX512BW", [](MadeUp& p) { p.hide(gemm::kAvx512bw); },
             kAll & ~gemm::kAvx512bw & ~gemm::kAvx512bf16, true, true, 1},
        Case{"leaf 7 without its subleaf 1", [](MadeUp& p) { p.leaves[{7, 0}][kEax] = 0; },
             kAll & ~gemm::kAvx512bf16, true, true, 1},
        Case{"leaf 6 the highest", [](MadeUp& p) { p.leaves[{0, 0}][kEax] = 6; },
             kAll & ~kAvx512 & ~kAmx & ~gemm::kAvx2, false, false, 0},
        Case{"AMX without the state of tiles", [](MadeUp& p) { p.state &= ~uint64_t{0x40000}; },
             kAll & ~kAmx, true, true, 0},
        Case{"AMX without permission", [](MadeUp& p) { p.permits = false; }, kAll & ~kAmx, true,
             true, 1},
        Case{"AMX's products without tiles", [](MadeUp& p) { p.hide(gemm::kAmxTile); },
             kAll & ~kAmx, true, true, 0},
        Case{"leaf 0x1D of zeros",
             [](MadeUp& p) { p.leaves[{0x1d, 0}] = p.leaves[{0x1d, 1}] = {}; }, kAll, true, false,
             1},
        Case{"a palette of other tiles", [](MadeUp& p) { p.leaves[{0x1d, 1}][kEbx] = 0; },
             kAll & ~kAmx, true, false, 0},
        Case{"leaf 0x1C the highest", [](MadeUp& p) { p.leaves[{0, 0}][kEax] = 0x1c; }, kAll, true,
             false, 1},
        Case{"no AMX", [](MadeUp& p) { p.hide(kAmx); }, kAll & ~kAmx, false, false, 0}),
    [](const testing::TestParamInfo<Case>& info) { return std::to_string(info.index); });

/// Nor is the kernel asked for what will not be used.
TEST(Processor, NothingIsGrantedThatIsNotAllowed) {
  for (const auto& limit : gemm::instruction_limits()) {
    const MadeUp made_up;
    const Processor processor = examine(made_up, limit.instructions);
    EXPECT_EQ(processor.usable, limit.instructions) << limit.name;
    EXPECT_TRUE(processor.claims_tiles) << limit.name;
    EXPECT_EQ(made_up.requests, (limit.instructions & kAmx) != 0 ? 1 : 0) << limit.name;
  }
}

TEST(Processor, IsOfAVendor) {
  const auto vendor_of = [](const char* name) {
    MadeUp made_up;
    auto& leaf0 = made_up.leaves[{0, 0}];
    std::memcpy(&leaf0[kEbx], name, 4);
    std::memcpy(&leaf0[kEdx], name + 4, 4);
    std::memcpy(&leaf0[kEcx], name + 8, 4);
    return examine(made_up).vendor;
  };
  EXPECT_EQ(vendor_of("GenuineIntel"), gemm::Vendor::kIntel);
  EXPECT_EQ(vendor_of("AuthenticAMD"), gemm::Vendor::kAmd);
  EXPECT_EQ(vendor_of("HygonGenuine"), gemm::Vendor::kOther);
}

/// Whatever is hidden: what is granted has its flag, its state, and what it builds upon.
TEST(Processor, NothingIsGrantedWithoutWhatItNeeds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    MadeUp made_up;
    // Half of the bits, a quarter or an eighth.
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
    made_up.permits = random() % 4 != 0;
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
    if ((processor.usable & kAmx) != 0) {
      ASSERT_TRUE(made_up.permits);
    }
    if (made_up.requests > 0) {
      ASSERT_TRUE(made_up.shows(kTileFlag));
      ASSERT_EQ(made_up.state & kTileFlag.state, kTileFlag.state);
    }
  }
}

/// What an option of the compiler implies is needed, too.
TEST(Processor, KernelsNeedWhatTheyWereCompiledFor) {
#if defined(__x86_64__)
  const auto needs = [](const auto& kernel, Instructions wanted) {
    EXPECT_EQ(wanted & ~kernel.needs, 0U) << kernel.name;
  };
  constexpr Instructions kAvx2 = kSse | gemm::kXsave | gemm::kAvx | gemm::kAvx2;
  needs(gemm::kFloat32Avx2, kAvx2 | gemm::kFma | gemm::kF16c);
  needs(gemm::kFloat32Avx512, kAvx2 | gemm::kFma | gemm::kF16c | gemm::kAvx512f);
  needs(gemm::kElementwiseAvx2, kAvx2 | gemm::kFma | gemm::kF16c);
  needs(gemm::kElementwiseAvx512, kAvx2 | gemm::kFma | gemm::kF16c | gemm::kAvx512f);
  needs(gemm::kInt8Avx2, kAvx2);
  needs(gemm::kInt8Avx512, kAvx2 | gemm::kAvx512f | gemm::kAvx512vnni);
  needs(gemm::kBFloat16Avx512, kAvx2 | gemm::kAvx512f | gemm::kAvx512bw | gemm::kAvx512bf16);
  needs(gemm::kInt8Amx, gemm::kAmxTile | gemm::kAmxInt8 | gemm::kAvx512f);
  needs(gemm::kSplitAmx, gemm::kAmxTile | gemm::kAmxBf16 | gemm::kAvx512bf16);
  needs(gemm::kBFloat16Amx, gemm::kAmxTile | gemm::kAmxBf16 | gemm::kAvx512bf16);
  EXPECT_EQ(gemm::kFloat32Avx2.needs & kAvx512, 0U);
#endif
  EXPECT_EQ(gemm::kFloat32Portable.needs, gemm::kInt8Portable.needs);
  EXPECT_EQ(gemm::kFloat32Portable.needs & ~gemm::this_processor().usable, 0U);
}

#if defined(__x86_64__)
/// The compiler's own runtime, which does not mind that AVX comes without what was before it.
TEST(Processor, AgreesWithTheCompilerAboutThisOne) {
  const Instructions usable = gemm::examine_all().usable;
  const bool is_masked_oddly =
      __builtin_cpu_supports("sse3") == 0 || __builtin_cpu_supports("ssse3") == 0 ||
      __builtin_cpu_supports("sse4.1") == 0 || __builtin_cpu_supports("sse4.2") == 0;
  const auto expect = [&](Instructions instructions, int is_supported) {
    EXPECT_EQ((usable & instructions) != 0, is_supported != 0 && !is_masked_oddly) << instructions;
  };
  expect(gemm::kAvx2, __builtin_cpu_supports("avx2"));
  expect(gemm::kFma, __builtin_cpu_supports("fma"));
  expect(gemm::kF16c, __builtin_cpu_supports("f16c"));
  expect(gemm::kAvx512f, __builtin_cpu_supports("avx512f"));
  expect(gemm::kAvx512vnni, __builtin_cpu_supports("avx512vnni"));
  expect(gemm::kAvx512bf16, __builtin_cpu_supports("avx512bf16"));
}
#endif

}  // namespace
