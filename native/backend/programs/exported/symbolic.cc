#include "programs/exported/symbolic.h"

#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "scheduler/backend.h"

namespace backend {
namespace {

using c10::IValue;
using Arguments = std::vector<IValue>;

[[noreturn]] void fail(const std::string& problem) {
  throw scheduler::BackendError("the arithmetic on sizes failed: " + problem);
}

bool is_int(const IValue& value) { return value.isInt() || value.isBool(); }

int64_t as_int(const IValue& value) {
  if (value.isInt()) return value.toInt();
  if (value.isBool()) return value.toBool() ? 1 : 0;
  fail("expected an integer");
}

double number(const IValue& value) {
  if (value.isDouble()) return value.toDouble();
  return static_cast<double>(as_int(value));
}

bool as_bool(const IValue& value) { return number(value) != 0; }

int64_t float_to_int(double value) {
  constexpr double kLimit = 9.2e18;
  if (!(std::abs(value) < kLimit)) fail("a number is no integer");
  return static_cast<int64_t>(value);
}

/// Represents the sum and the product of any two int64.
__extension__ using Wide = __int128;

int64_t narrowed(Wide value) {
  const auto narrow = static_cast<int64_t>(value);
  if (narrow != value) fail("an overflow");
  return narrow;
}

/// Applies the operation to two integers, or to both as floats.
template <class Operation>
IValue arithmetic(const Arguments& arguments) {
  if (!is_int(arguments[0]) || !is_int(arguments[1])) {
    return Operation()(number(arguments[0]), number(arguments[1]));
  }
  return narrowed(Operation()(Wide{as_int(arguments[0])}, Wide{as_int(arguments[1])}));
}

/// Quotient rounded towards minus infinity, and remainder with the sign of the divisor. floor(a /
/// b) differs if a / b is rounded up to an integer. Source: CPython, Objects/floatobject.c
/// (_float_div_mod).
std::pair<double, double> floor_divide(double a, double b) {
  if (b == 0) fail("a division by zero");
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder == 0) {
    remainder = std::copysign(0.0, b);
  } else if ((b < 0) != (remainder < 0)) {
    remainder += b;
    quotient -= 1;
  }
  if (quotient == 0) return {std::copysign(0.0, a / b), remainder};
  const double floor = std::floor(quotient);
  return {quotient - floor > 0.5 ? floor + 1 : floor, remainder};
}

struct FloorDivided {
  double operator()(double a, double b) const { return floor_divide(a, b).first; }
  Wide operator()(Wide a, Wide b) const {
    if (b == 0) fail("an overflow");
    return narrowed(a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0));
  }
};

struct RemainderOf {
  double operator()(double a, double b) const { return floor_divide(a, b).second; }
  Wide operator()(Wide a, Wide b) const { return a - FloorDivided()(a, b) * b; }
};

struct Power {
  /// Source: CPython, Objects/floatobject.c (float_pow).
  double operator()(double base, double exponent) const {
    const bool is_finite = std::isfinite(base) && std::isfinite(exponent);
    if (is_finite && base == 0 && exponent < 0) fail("a division by zero");
    if (is_finite && base < 0 && exponent != std::floor(exponent)) fail("a complex number");
    const double power = std::pow(base, exponent);
    if (is_finite && !std::isfinite(power)) fail("an overflow");
    return power;
  }
  Wide operator()(Wide base, Wide exponent) const {
    constexpr int64_t kMaxExponent = 64;  // for bases other than 0, 1 and -1
    if (exponent < 0) fail("an overflow");
    if (base == 1 || base == 0) return exponent == 0 ? 1 : base;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    if (exponent > kMaxExponent) fail("an overflow");
    Wide power = 1;
    for (; exponent > 0; --exponent) power = narrowed(power * base);
    return power;
  }
};

/// Represents every int64 and every double.
long double exact(const IValue& value) {
  return value.isDouble() ? static_cast<long double>(value.toDouble()) : as_int(value);
}

template <class Compare>
IValue comparison(const Arguments& arguments) {
  return Compare()(exact(arguments[0]), exact(arguments[1]));
}

template <double (*rounded)(double)>
IValue rounding(const Arguments& arguments) {
  return is_int(arguments[0]) ? IValue(as_int(arguments[0]))
                              : IValue(float_to_int(rounded(number(arguments[0]))));
}

IValue negative(const Arguments& arguments) {
  if (!is_int(arguments[0])) return -number(arguments[0]);
  return narrowed(-Wide{as_int(arguments[0])});
}

IValue itself(const Arguments& arguments) { return arguments[0]; }
IValue to_float(const Arguments& arguments) { return number(arguments[0]); }
IValue inverted(const Arguments& arguments) { return !as_bool(arguments[0]); }

IValue square_root(const Arguments& arguments) {
  const double value = number(arguments[0]);
  if (value < 0) fail("a square root of a negative number");
  return std::sqrt(value);
}

/// Quotient of integers, which may exceed the precision of a double: rounded once, as in Python.
double quotient_of(Wide a, Wide b) {
  __extension__ using Bits = unsigned __int128;
  const bool is_negative = (a < 0) != (b < 0);
  if (a == 0) return is_negative ? -0.0 : 0.0;
  auto dividend = static_cast<Bits>(a < 0 ? -a : a);
  const auto divisor = static_cast<Bits>(b < 0 ? -b : b);
  constexpr int kBits = 126;  // at least 62 bits remain in the quotient
  const auto shift = static_cast<unsigned>(kBits - std::bit_width(static_cast<uint64_t>(dividend)));
  dividend <<= shift;
  const Bits rest = dividend % divisor != 0 ? 1 : 0;
  const double size =
      std::ldexp(static_cast<double>(dividend / divisor | rest), -static_cast<int>(shift));
  return is_negative ? -size : size;
}

IValue divided(const Arguments& arguments) {
  const double divisor = number(arguments[1]);
  if (divisor == 0) fail("a division by zero");
  if (is_int(arguments[0]) && is_int(arguments[1])) {
    return quotient_of(as_int(arguments[0]), as_int(arguments[1]));
  }
  return number(arguments[0]) / divisor;
}

/// Converts to float if either argument is a float. Source: torch/__init__.py (sym_max, sym_min).
IValue promoted(const IValue& value, const Arguments& arguments) {
  const bool is_float = arguments[0].isDouble() || arguments[1].isDouble();
  return is_float ? IValue(number(value)) : value;
}

IValue larger(const Arguments& arguments) {
  const bool is_second = exact(arguments[1]) > exact(arguments[0]);
  return promoted(arguments[is_second ? 1 : 0], arguments);
}

IValue smaller(const Arguments& arguments) {
  const bool is_second = exact(arguments[1]) < exact(arguments[0]);
  return promoted(arguments[is_second ? 1 : 0], arguments);
}

IValue chosen(const Arguments& arguments) {
  return as_bool(arguments[0]) ? arguments[1] : arguments[2];
}

template <class Combine>
IValue combination(const Arguments& arguments) {
  for (const IValue& argument : arguments) {
    if (!argument.isBool()) fail("expected a condition");
  }
  return Combine()(arguments[0].toBool(), arguments[1].toBool());
}

IValue left_shift(const Arguments& arguments) {
  const Wide factor = Power()(Wide{2}, Wide{as_int(arguments[1])});
  return narrowed(as_int(arguments[0]) * factor);
}

IValue right_shift(const Arguments& arguments) {
  const int64_t bits = as_int(arguments[1]);
  if (bits < 0) fail("a negative shift");
  const int64_t value = as_int(arguments[0]);
  if (bits >= 63) return int64_t{value < 0 ? -1 : 0};
  return narrowed(FloorDivided()(Wide{value}, Power()(Wide{2}, Wide{bits})));
}

IValue sum(const Arguments& arguments) {
  IValue all = int64_t{0};
  for (const IValue& argument : arguments) all = arithmetic<std::plus<>>({all, argument});
  return all;
}

}  // namespace

std::optional<SymbolicOperator> symbolic_operator(std::string_view target) {
  static const auto* operators = new std::unordered_map<std::string_view, SymbolicOperator>{
      {"_operator.add", {arithmetic<std::plus<>>, 2, 2}},
      {"_operator.sub", {arithmetic<std::minus<>>, 2, 2}},
      {"_operator.mul", {arithmetic<std::multiplies<>>, 2, 2}},
      {"_operator.floordiv", {arithmetic<FloorDivided>, 2, 2}},
      {"_operator.mod", {arithmetic<RemainderOf>, 2, 2}},
      {"_operator.pow", {arithmetic<Power>, 2, 2}},
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
