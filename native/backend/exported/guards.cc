#include "exported/guards.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "engine/backend.h"
#include "exported/symbolic.h"

namespace backend {

/// A number, the size of an input, or a function of others.
struct Guard::Expression {
  std::optional<int64_t> number;
  size_t input = 0;
  int64_t dimension = -1;  ///< of a size
  SymbolicFunction function = nullptr;
  std::vector<std::unique_ptr<const Expression>> operands;

  c10::IValue value(const std::vector<c10::IValue>& inputs) const {
    if (number) return *number;
    if (function == nullptr) return inputs.at(input).toTensor().size(dimension);
    std::vector<c10::IValue> values;
    values.reserve(operands.size());
    for (const auto& operand : operands) values.push_back(operand->value(inputs));
    return function(values);
  }
};

namespace {

using Expression = Guard::Expression;
using Parsed = std::unique_ptr<const Expression>;

constexpr size_t kLongest = 2'000;
constexpr int kDeepest = 100;

struct Infix {
  std::string_view text;
  const char* function;
};

constexpr std::array kOr{Infix{"or", "_operator.or_"}};
constexpr std::array kAnd{Infix{"and", "_operator.and_"}};
/// Longer ones first where one begins with another.
constexpr std::array kCompare{Infix{"==", "_operator.eq"}, Infix{"!=", "_operator.ne"},
                              Infix{"<=", "_operator.le"}, Infix{">=", "_operator.ge"},
                              Infix{"<", "_operator.lt"},  Infix{">", "_operator.gt"}};
constexpr std::array kAdd{Infix{"+", "_operator.add"}, Infix{"-", "_operator.sub"}};
constexpr std::array kMultiply{Infix{"//", "_operator.floordiv"}, Infix{"*", "_operator.mul"},
                               Infix{"%", "_operator.mod"}};

/// From the loosest to the tightest.
constexpr std::array<std::span<const Infix>, 5> kLevels{kOr, kAnd, kCompare, kAdd, kMultiply};
constexpr size_t kComparisons = 2;

Parsed call(const char* name, std::vector<Parsed> operands) {
  auto expression = std::make_unique<Expression>();
  if (const auto known = symbolic_operator(name)) expression->function = known->function;
  expression->operands = std::move(operands);
  return expression;
}

std::vector<Parsed> pair(Parsed left, Parsed right) {
  std::vector<Parsed> both;
  both.push_back(std::move(left));
  both.push_back(std::move(right));
  return both;
}

/// Null wherever something is met that is not known.
class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& inputs)
      : rest_(text), inputs_(inputs) {}

  Parsed parse() {
    Parsed all = infix(0);
    skip_spaces();
    return rest_.empty() ? std::move(all) : nullptr;
  }

 private:
  void skip_spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  bool take(std::string_view text) {
    skip_spaces();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  const Infix* take_infix(size_t level) {
    for (const Infix& infix : kLevels.at(level)) {
      // Two stars are a power, which is not known.
      skip_spaces();
      if (infix.text == "*" && rest_.starts_with("**")) continue;
      if (take(infix.text)) return &infix;
    }
    return nullptr;
  }

  Parsed infix(size_t level) {
    if (level == kLevels.size()) return prefix();
    Parsed left = infix(level + 1);
    size_t count = 0;
    while (left) {
      const Infix* const operation = take_infix(level);
      if (operation == nullptr) return left;
      // 1 < n < 8 means two comparisons to Python.
      if (level == kComparisons && ++count > 1) return nullptr;
      Parsed right = infix(level + 1);
      if (!right) return nullptr;
      left = call(operation->function, pair(std::move(left), std::move(right)));
    }
    return nullptr;
  }

  Parsed prefix() {
    if (++depth_ > kDeepest) return nullptr;
    Parsed inner;
    if (take("not ")) {
      inner = negated("torch.sym_not", infix(kComparisons));
    } else if (take("-")) {
      inner = negated("_operator.neg", prefix());
    } else if (take("(")) {
      inner = infix(0);
      if (!take(")")) inner = nullptr;
    } else {
      inner = take("L[") ? size() : number();
    }
    --depth_;
    return inner;
  }

  static Parsed negated(const char* function, Parsed operand) {
    if (!operand) return nullptr;
    std::vector<Parsed> operands;
    operands.push_back(std::move(operand));
    return call(function, std::move(operands));
  }

  /// 'NAME'].size()[DIMENSION]
  Parsed size() {
    if (!take("'")) return nullptr;
    const std::string_view name = rest_.substr(0, rest_.find('\''));
    rest_.remove_prefix(std::min(name.size(), rest_.size()));
    const auto input = std::ranges::find(inputs_, name);
    if (input == inputs_.end() || !take("'].size()[")) return nullptr;
    const Parsed dimension = number();
    if (!dimension || !dimension->number || !take("]")) return nullptr;
    auto expression = std::make_unique<Expression>();
    expression->input = static_cast<size_t>(input - inputs_.begin());
    expression->dimension = *dimension->number;
    return expression;
  }

  Parsed number() {
    skip_spaces();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) return nullptr;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (rest_.starts_with('.')) return nullptr;  // a float
    auto expression = std::make_unique<Expression>();
    expression->number = value;
    return expression;
  }

  std::string_view rest_;
  const std::vector<std::string>& inputs_;
  int depth_ = 0;
};

}  // namespace

Guard::Guard(std::string_view text, const std::vector<std::string>& inputs)
    : text_(text.substr(0, kLongest)) {
  if (text.size() <= kLongest) root_ = Parser(text, inputs).parse();
}

Guard::~Guard() = default;
Guard::Guard(Guard&&) noexcept = default;

bool Guard::holds(const std::vector<c10::IValue>& inputs) const {
  try {
    return root_->value(inputs).toScalar().toBool();
  } catch (const engine::BackendError&) {
    return false;
  } catch (const c10::Error&) {  // a dimension that the input does not have
    return false;
  }
}

}  // namespace backend
