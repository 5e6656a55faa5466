// The setting INSTRUCTION_SET: the instructions that each value allows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/cpu.h"

namespace {

using kernels::Instructions;

TEST(InstructionLimit, EachIncludesThePreviousOne) {
  const auto limits = kernels::instruction_limits();
  ASSERT_FALSE(limits.empty());
  EXPECT_STREQ(limits.front().name, "portable");
  EXPECT_EQ(limits.front().instructions, 0U);
  for (size_t i = 1; i < limits.size(); ++i) {
    EXPECT_EQ(limits[i - 1].instructions & ~limits[i].instructions, 0U) << limits[i].name;
    EXPECT_NE(limits[i - 1].instructions, limits[i].instructions) << limits[i].name;
  }
#if defined(__x86_64__)
  EXPECT_EQ(limits.back().instructions, kernels::kAllInstructions);
#endif
}

TEST(InstructionLimit, TheHighestIsTheLastSupportedOne) {
  for (const auto& limit : kernels::instruction_limits()) {
    EXPECT_STREQ(kernels::highest_limit(limit.instructions), limit.name);
  }
  EXPECT_STREQ(kernels::highest_limit(0), "portable");
#if defined(__x86_64__)
  // Incomplete AVX-512.
  const Instructions avx2 = kernels::instruction_limits()[1].instructions;
  EXPECT_STREQ(kernels::highest_limit(avx2 | kernels::kAvx512f | kernels::kAvx512bw), "avx2");
#endif
}

TEST(InstructionLimit, ThisMachineSupportsAllUpToItsHighest) {
  const std::vector<std::string> available = kernels::available_limits();
  ASSERT_FALSE(available.empty());
  EXPECT_EQ(available.back(), kernels::highest_limit(kernels::examine_all().usable));
  for (size_t i = 0; i < available.size(); ++i) {
    EXPECT_EQ(available[i], kernels::instruction_limits()[i].name);
  }
}

TEST(InstructionLimit, NoKernelExceedsTheLimit) {
  EXPECT_EQ(kernels::limit_problem(), "");
  const Instructions usable = kernels::this_processor().usable;
  if (const auto* const limit = kernels::chosen_limit(); limit != nullptr) {
    EXPECT_EQ(usable, limit->instructions);
  } else {
    EXPECT_EQ(usable, kernels::examine_all().usable);
  }
}

/// Starts this program with INSTRUCTION_SET set; it exits before any test (limited.cc).
void expect_refused(const std::string& value) {
  const char* const before = std::getenv("INSTRUCTION_SET");
  const std::string kept = before != nullptr ? before : "";
  setenv("INSTRUCTION_SET", value.c_str(), 1);
  EXPECT_EXIT({}, testing::ExitedWithCode(2),
              "INSTRUCTION_SET: expected one of portable.*supported by this machine., received \"" +
                  value + "\"");
  if (before != nullptr) {
    setenv("INSTRUCTION_SET", kept.c_str(), 1);
  } else {
    unsetenv("INSTRUCTION_SET");
  }
}

TEST(InstructionLimitDeathTest, RejectsUnknownAndUnsupportedValues) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  expect_refused("avx3");
  const size_t count = kernels::available_limits().size();
  if (count < kernels::instruction_limits().size()) {
    expect_refused(kernels::instruction_limits()[count].name);
  }
}

}  // namespace
