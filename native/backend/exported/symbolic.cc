#include "exported/symbolic.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>

#include "engine/backend.h"

namespace backend {
namespace {

using c10::IValue;
using Arguments = std::vector<IValue>;

[[noreturn]] void fail(const std::string& problem) {
  throw engine::BackendError("the arithmetic on sizes failed: " + problem);
}

bool is_whole(const IValue& value) { return value.isInt() || value.isBool(); }

int64_t whole(const IValue& value) {
  if (value.isInt()) return value.toInt();
  if (value.isBool()) return value.toBool() ? 1 : 0;
  fail("expected an integer");
}

double number(const IValue& value) {
  if (value.isDouble()) return value.toDouble();
  return static_cast<double>(whole(value));
}

bool truth(const IValue& value) { return number(value) != 0; }

int64_t to_whole(double value) {
  constexpr double kLimit = 9.2e18;
  if (!(std::abs(value) < kLimit)) fail("a number is no integer");
  return static_cast<int64_t>(value);
}

/// Integers by a function that says whether it overflows, or both as floats.
template <auto whole_overflows, class OfFloats>
IValue arithmetic(const Arguments& arguments) {
  if (!is_whole(arguments[0]) || !is_whole(arguments[1])) {
    return OfFloats()(number(arguments[0]), number(arguments[1]));
  }
  int64_t result = 0;
  if (whole_overflows(whole(arguments[0]), whole(arguments[1]), &result)) fail("an overflow");
  return result;
}

bool add_overflows(int64_t a, int64_t b, int64_t* sum) { return __builtin_add_overflow(a, b, sum); }
bool subtract_overflows(int64_t a, int64_t b, int64_t* difference) {
  return __builtin_sub_overflow(a, b, difference);
}
bool multiply_overflows(int64_t a, int64_t b, int64_t* product) {
  return __builtin_mul_overflow(a, b, product);
}

/// Python's: towards minus infinity. True where there is no quotient.
bool floor_divide_fails(int64_t a, int64_t b, int64_t* quotient) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return true;
  *quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  return false;
}
using FloorDivided = decltype([](double a, double b) { return std::floor(a / b); });

bool remainder_fails(int64_t a, int64_t b, int64_t* remainder) {
  int64_t quotient = 0;
  if (floor_divide_fails(a, b, &quotient)) return true;
  *remainder = a - quotient * b;
  return false;
}
using RemainderOf = decltype([](double a, double b) { return a - std::floor(a / b) * b; });

bool power_overflows(int64_t base, int64_t exponent, int64_t* power) {
  constexpr int64_t kMostExponent = 64;  // of anything but 0, 1 and -1
  if (exponent < 0) return true;
  *power = 1;
  if (base == 1 || base == 0) *power = exponent == 0 ? 1 : base;
  if (base == -1) *power = exponent % 2 == 0 ? 1 : -1;
  if (base >= -1 && base <= 1) return false;
  if (exponent > kMostExponent) return true;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(*power, base, power)) return true;
  }
  return false;
}
using Power = decltype([](double a, double b) { return std::pow(a, b); });

/// Holds every integer, and every float.
long double exact(const IValue& value) {
  return value.isDouble() ? static_cast<long double>(value.toDouble()) : whole(value);
}

template <class Compare>
IValue comparison(const Arguments& arguments) {
  return Compare()(exact(arguments[0]), exact(arguments[1]));
}

template <double (*rounded)(double)>
IValue rounding(const Arguments& arguments) {
  return is_whole(arguments[0]) ? IValue(whole(arguments[0]))
                                : IValue(to_whole(rounded(number(arguments[0]))));
}

IValue negative(const Arguments& arguments) {
  if (!is_whole(arguments[0])) return -number(arguments[0]);
  int64_t result = 0;
  if (subtract_overflows(0, whole(arguments[0]), &result)) fail("an overflow");
  return result;
}

IValue itself(const Arguments& arguments) { return arguments[0]; }
IValue to_float(const Arguments& arguments) { return number(arguments[0]); }
IValue inverted(const Arguments& arguments) { return !truth(arguments[0]); }
IValue square_root(const Arguments& arguments) { return std::sqrt(number(arguments[0])); }

IValue divided(const Arguments& arguments) {
  const double divisor = number(arguments[1]);
  if (divisor == 0) fail("a division by zero");
  return number(arguments[0]) / divisor;
}

IValue larger(const Arguments& arguments) {
  return number(arguments[0]) < number(arguments[1]) ? arguments[1] : arguments[0];
}

IValue smaller(const Arguments& arguments) {
  return number(arguments[1]) < number(arguments[0]) ? arguments[1] : arguments[0];
}

IValue chosen(const Arguments& arguments) {
  return truth(arguments[0]) ? arguments[1] : arguments[2];
}

template <class Combine>
IValue combination(const Arguments& arguments) {
  for (const IValue& argument : arguments) {
    if (!argument.isBool()) fail("expected a condition");
  }
  return Combine()(arguments[0].toBool(), arguments[1].toBool());
}

IValue left_shift(const Arguments& arguments) {
  int64_t factor = 0, result = 0;
  if (power_overflows(2, whole(arguments[1]), &factor) ||
      multiply_overflows(whole(arguments[0]), factor, &result)) {
    fail("an overflow");
  }
  return result;
}

IValue right_shift(const Arguments& arguments) {
  const int64_t bits = whole(arguments[1]);
  if (bits < 0) fail("a negative shift");
  int64_t divisor = 0, result = 0;
  if (power_overflows(2, bits, &divisor)) return int64_t{whole(arguments[0]) < 0 ? -1 : 0};
  if (floor_divide_fails(whole(arguments[0]), divisor, &result)) fail("an overflow");
  return result;
}

IValue sum(const Arguments& arguments) {
  IValue all = int64_t{0};
  for (const IValue& argument : arguments)
    all = arithmetic<add_overflows, std::plus<>>({all, argument});
  return all;
}

}  // namespace

std::optional<SymbolicOperator> symbolic_operator(std::string_view target) {
  static const auto* operators = new std::unordered_map<std::string_view, SymbolicOperator>{
      {"_operator.add", {arithmetic<add_overflows, std::plus<>>, 2, 2}},
      {"_operator.sub", {arithmetic<subtract_overflows, std::minus<>>, 2, 2}},
      {"_operator.mul", {arithmetic<multiply_overflows, std::multiplies<>>, 2, 2}},
      {"_operator.floordiv", {arithmetic<floor_divide_fails, FloorDivided>, 2, 2}},
      {"_operator.mod", {arithmetic<remainder_fails, RemainderOf>, 2, 2}},
      {"_operator.pow", {arithmetic<power_overflows, Power>, 2, 2}},
      {"_operator.truediv", {divided, 2, 2}},
      {"_operator.neg", {negative, 1, 1}},
      {"_operator.pos", {itself, 1, 1}},
      {"_operator.eq", {comparison<std::equal_to<>>, 2, 2}},
      {"_operator.ne", {comparison<std::not_equal_to<>>, 2, 2}},
      {"_operator.lt", {comparison<std::less<>>, 2, 2}},
      {"_operator.le", {comparison<std::less_equal<>>, 2, 2}},
      {"_operator.gt", {comparison<std::greater<>>, 2, 2}},
      {"_operator.ge", {comparison<std::greater_equal<>>, 2, 2}},
      {"_operator.and_", {combination<std::logical_and<>>, 2, 2}},
      {"_operator.or_", {combination<std::logical_or<>>, 2, 2}},
      {"_operator.lshift", {left_shift, 2, 2}},
      {"_operator.rshift", {right_shift, 2, 2}},
      {"math.trunc", {rounding<std::trunc>, 1, 1}},
      {"math.floor", {rounding<std::floor>, 1, 1}},
      {"math.ceil", {rounding<std::ceil>, 1, 1}},
      {"round", {rounding<std::nearbyint>, 1, 1}},
      {"torch.sym_int", {rounding<std::trunc>, 1, 1}},
      {"torch.sym_float", {to_float, 1, 1}},
      {"torch.sym_not", {inverted, 1, 1}},
      {"torch.sym_ite", {chosen, 3, 3}},
      {"torch.sym_max", {larger, 2, 2}},
      {"torch.sym_min", {smaller, 2, 2}},
      {"torch.sym_sum", {sum, 0, SIZE_MAX}},
      {"torch.sym_sqrt", {square_root, 1, 1}},
      {"torch._sym_sqrt", {square_root, 1, 1}},
  };
  const auto found = operators->find(target);
  return found == operators->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace backend
