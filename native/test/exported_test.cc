// Parts of native/backend/programs/exported that no fixture file covers.
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "programs/exported/guards.h"
#include "programs/exported/operators.h"
#include "programs/exported/symbolic.h"
#include "scheduler/backend.h"

namespace backend {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

c10::IValue compute(const char* name, const std::vector<c10::IValue>& arguments) {
  const auto known = symbolic_operator(name);
  if (!known) throw std::invalid_argument(name);
  return known->function(arguments);
}

TEST(Symbolic, DividesAsPythonDoes) {
  const int64_t cases[][4] = {{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1}};
  for (const auto& [a, b, quotient, remainder] : cases) {
    EXPECT_EQ(compute("_operator.floordiv", {a, b}).toInt(), quotient) << a << " // " << b;
    EXPECT_EQ(compute("_operator.mod", {a, b}).toInt(), remainder) << a << " % " << b;
  }
  EXPECT_DOUBLE_EQ(compute("_operator.mod", {-7.5, int64_t{2}}).toDouble(), 0.5);
}

/// "0x1.8p+1", "inf", "-3" or "True", as written by test/fixtures/arithmetic/make.py.
c10::IValue number_of(const std::string& text) {
  if (text == "True" || text == "False") return text == "True";
  const bool is_integer = text.find_first_not_of("-0123456789") == std::string::npos;
  if (is_integer) return static_cast<int64_t>(std::stoll(text));
  return std::strtod(text.c_str(), nullptr);
}

/// Type and value of a number, including the sign of 0.
std::string describe(const c10::IValue& value) {
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt()) return std::to_string(value.toInt());
  if (std::isnan(value.toDouble())) return "nan";
  std::ostringstream words;
  words << std::hexfloat << value.toDouble();
  return words.str();
}

TEST(Symbolic, ComputesWhatPythonDoes) {
  std::ifstream file(FIXTURES "/arithmetic/python.txt");
  size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::istringstream stream(line);
    std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    const std::string& expected = words.back();
    std::vector<c10::IValue> operands;
    for (size_t i = 1; i + 1 < words.size(); ++i) operands.push_back(number_of(words[i]));
    if (expected == "error") {
      EXPECT_THROW(compute(words[0].c_str(), operands), scheduler::BackendError) << line;
    } else {
      EXPECT_EQ(describe(compute(words[0].c_str(), operands)), describe(number_of(expected)))
          << line;
    }
  }
  EXPECT_GT(count, 3000U);
}

TEST(Symbolic, HasNoResultWherePythonsIntegersWouldGrow) {
  EXPECT_THROW(compute("_operator.add", {kMax, int64_t{1}}), scheduler::BackendError);
  EXPECT_THROW(compute("_operator.mul", {kMax, int64_t{2}}), scheduler::BackendError);
  EXPECT_THROW(compute("_operator.neg", {kLeast}), scheduler::BackendError);
  EXPECT_THROW(compute("_operator.floordiv", {kLeast, int64_t{-1}}), scheduler::BackendError);
  EXPECT_THROW(compute("_operator.mod", {int64_t{1}, int64_t{0}}), scheduler::BackendError);
  EXPECT_THROW(compute("_operator.pow", {int64_t{2}, int64_t{64}}), scheduler::BackendError);
  EXPECT_THROW(compute("_operator.lshift", {int64_t{1}, int64_t{63}}), scheduler::BackendError);
  EXPECT_THROW(compute("math.trunc", {1e300}), scheduler::BackendError);
}

TEST(Symbolic, ComparesAndChooses) {
  EXPECT_TRUE(compute("_operator.lt", {kMax - 1, kMax}).toBool());
  EXPECT_EQ(compute("torch.sym_max", {int64_t{3}, int64_t{5}}).toInt(), 5);
  EXPECT_EQ(compute("torch.sym_ite", {false, int64_t{1}, int64_t{2}}).toInt(), 2);
  EXPECT_EQ(compute("torch.sym_sum", {int64_t{1}, int64_t{2}, int64_t{3}}).toInt(), 6);
  EXPECT_EQ(symbolic_operator("_operator.matmul"), std::nullopt);
}

/// Operators that return views of their input without an annotation in their schemas.
TEST(ExportedOperators, KnowsWhatMayReturnItsInput) {
  for (const char* name : {
           "unsafe_split.Tensor",
           "unsafe_split_with_sizes.default",
           "unsafe_chunk.default",
           "hsplit.int",
           "atleast_2d.default",
           "broadcast_tensors.default",
           "meshgrid.default",
       }) {
    const auto found = find_operator(std::string("torch.ops.aten.") + name, {});
    ASSERT_TRUE(found.handle) << name << ": " << found.problem;
    EXPECT_TRUE(may_alias_input(*found.handle)) << name;
  }
}

class Guards : public testing::Test {
 protected:
  const std::vector<std::string> names_{"x", "mask"};
  const std::vector<c10::IValue> inputs_{at::zeros({6, 40}), at::zeros({6, 1})};
};

TEST_F(Guards, HoldWhereTheSizesAreSo) {
  for (const char* text : {"L['x'].size()[0] == L['mask'].size()[0]",
                           "(2*L['x'].size()[0]) == (2*L['mask'].size()[0])",
                           "L['mask'].size()[1] == 1 or L['x'].size()[1] == 7",
                           "((L['x'].size()[0]*L['x'].size()[1]) % L['mask'].size()[0]) == 0",
                           "not L['x'].size()[1] < 40 and L['x'].size()[1] // 7 + 1 >= 6",
                           "-1 + L['x'].size()[0] > 4"}) {
    const Guard guard(text, names_);
    ASSERT_TRUE(guard.is_supported()) << text;
    EXPECT_TRUE(guard.holds(inputs_)) << text;
  }
}

TEST_F(Guards, DoNotHoldElsewhere) {
  for (const char* text : {"L['x'].size()[1] == L['mask'].size()[1]", "L['x'].size()[0] % 4 == 0",
                           "L['x'].size()[5] == 1", "1 // (L['x'].size()[0] - 6) == 0"}) {
    const Guard guard(text, names_);
    ASSERT_TRUE(guard.is_supported()) << text;
    EXPECT_FALSE(guard.holds(inputs_)) << text;
  }
}

TEST_F(Guards, AreNotKnownWhereTheySayMore) {
  for (const std::string& text :
       {std::string("L['y'].size()[0] == 1"), std::string("L['x'].stride()[0] == 1"),
        std::string("L['x'].size()[0] ** 2 == 4"), std::string("2 < L['x'].size()[0] < 8"),
        std::string("__import__('os')"), std::string(""), std::string("L['x"),
        std::string("L['x'].size()[0] =="), std::string("1.5 < 2"), std::string(5'000, '('),
        "1" + std::string(1'900, '('), std::string(1'900, '-') + "1"}) {
    EXPECT_FALSE(Guard(text, names_).is_supported()) << text.substr(0, 50);
  }
}

}  // namespace
}  // namespace backend
