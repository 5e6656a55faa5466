// Instruction limits of the libraries inside LibTorch.
#include "runtime/instruction_limits.h"

#include <ATen/Version.h>
#include <ATen/ops/mkldnn_convolution.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using backend::limit_instructions;
using kernels::Processor;

constexpr Processor kUsual{.usable = kernels::kAvx512f};
constexpr Processor kInconsistent{.usable = kernels::kAvx512f, .is_amx_inconsistent = true};

/// "-" if unset.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "-";
}

/// Unsets all variables, and restores them afterwards.
class InstructionLimitsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < kVariables.size(); ++i) {
      before_[i] = variable(kVariables[i]);
      unsetenv(kVariables[i]);
    }
  }
  void TearDown() override {
    for (size_t i = 0; i < kVariables.size(); ++i) {
      if (before_[i] == "-") {
        unsetenv(kVariables[i]);
      } else {
        setenv(kVariables[i], before_[i].c_str(), 1);
      }
    }
  }

 private:
  static constexpr std::array<const char*, 5> kVariables{"ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA",
                                                         "ONEDNN_MAX_CPU_ISA",
                                                         "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR"};
  std::array<std::string, kVariables.size()> before_;
};

TEST_F(InstructionLimitsTest, AreSetOnlyWhereTheyAreNeeded) {
  limit_instructions(kUsual, nullptr);
  EXPECT_EQ(variable("ONEDNN_MAX_CPU_ISA"), "-");
  EXPECT_EQ(variable("MKL_ENABLE_INSTRUCTIONS"), "-");
  limit_instructions(kInconsistent, nullptr);
  EXPECT_EQ(variable("ONEDNN_MAX_CPU_ISA"), "AVX512_CORE_BF16");
  EXPECT_EQ(variable("MKL_ENABLE_INSTRUCTIONS"), "AVX512_E3");
}

const kernels::InstructionLimit* limit_of(std::string_view name) {
  for (const auto& limit : kernels::instruction_limits()) {
    if (limit.name == name) return &limit;
  }
  return nullptr;
}

TEST_F(InstructionLimitsTest, GoAlongWithOurs) {
  // Also if CPUID is inconsistent about AMX, whose limit is less strict.
  limit_instructions(kInconsistent, limit_of("portable"));
  EXPECT_EQ(variable("ATEN_CPU_CAPABILITY"), "default");
  EXPECT_EQ(variable("ONEDNN_MAX_CPU_ISA"), "SSE41");
  EXPECT_EQ(variable("MKL_ENABLE_INSTRUCTIONS"), "SSE4_2");
  EXPECT_EQ(variable("MKL_CBWR"), "COMPATIBLE");
}

TEST_F(InstructionLimitsTest, EachLimitHasVariablesOfItsOwn) {
  std::string before;
  for (const auto& limit : kernels::instruction_limits()) {
    for (const char* const name : {"ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS"}) unsetenv(name);
    limit_instructions(kUsual, &limit);
    const std::string now = variable("ONEDNN_MAX_CPU_ISA") + variable("MKL_ENABLE_INSTRUCTIONS");
    EXPECT_NE(now, before) << limit.name;
    before = now;
  }
}

TEST_F(InstructionLimitsTest, WhatTheUserHasSetStays) {
  setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
  limit_instructions(kInconsistent, nullptr);
  EXPECT_EQ(variable("ONEDNN_MAX_CPU_ISA"), "AVX2");
  EXPECT_EQ(variable("MKL_ENABLE_INSTRUCTIONS"), "AVX512_E3");
}

TEST_F(InstructionLimitsTest, WhatTheUserHasSetByItsOlderNameStays) {
  setenv("DNNL_MAX_CPU_ISA", "ALL", 1);
  setenv("MKL_ENABLE_INSTRUCTIONS", "SSE4_2", 1);
  limit_instructions(kInconsistent, nullptr);
  EXPECT_EQ(variable("ONEDNN_MAX_CPU_ISA"), "-");
  EXPECT_EQ(variable("MKL_ENABLE_INSTRUCTIONS"), "SSE4_2");
}

#if defined(__x86_64__)
/// limited.cc has set the variables before the first operator.
TEST(InstructionLimits, LibTorchKeepsToOurs) {
  const auto* const limit = kernels::chosen_limit();
  if (limit == nullptr) GTEST_SKIP() << "INSTRUCTION_SET is not set";
  const std::string_view name = limit->name;
  const std::string wanted = name == "portable" ? "DEFAULT" : name == "avx2" ? "AVX2" : "AVX512";
  EXPECT_EQ(at::get_cpu_capability(), wanted);
}

/// Opening LibTorch does not read the variables: values that are set afterwards have an effect.
/// Runs in a separate process, whose standard output shows oneDNN's instruction set.
TEST(InstructionLimitsDeathTest, ALimitCountsUntilTheFirstOperator) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        setenv("ONEDNN_VERBOSE", "1", 1);
        setenv("ONEDNN_MAX_CPU_ISA", "SSE41", 1);
        at::mkldnn_convolution(at::ones({1, 4, 8, 8}), at::ones({4, 4, 3, 3}), {}, {0, 0}, {1, 1},
                               {1, 1}, 1);
        fflush(stdout);
        _exit(0);
      },
      testing::ExitedWithCode(0), "isa:Intel SSE4.1");
}
#endif

}  // namespace
