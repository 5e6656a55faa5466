#include "programs/exported/guards.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "programs/exported/symbolic.h"
#include "scheduler/backend.h"

namespace backend {
namespace {

using Inputs = std::vector<c10::IValue>;

/// Evaluates a part of a condition; empty: not supported.
using Expression = std::function<c10::IValue(const Inputs&)>;

constexpr size_t kMaxLength = 2'000;
constexpr int kMaxDepth = 100;

struct Infix {
  std::string_view text;
  const char* function;
};

constexpr std::array kOr{Infix{"or", "_operator.or_"}};
constexpr std::array kAnd{Infix{"and", "_operator.and_"}};
/// Longer operators first if one is a prefix of another.
constexpr std::array kCompare{Infix{"==", "_operator.eq"}, Infix{"!=", "_operator.ne"},
                              Infix{"<=", "_operator.le"}, Infix{">=", "_operator.ge"},
                              Infix{"<", "_operator.lt"},  Infix{">", "_operator.gt"}};
constexpr std::array kAdd{Infix{"+", "_operator.add"}, Infix{"-", "_operator.sub"}};
constexpr std::array kMultiply{Infix{"//", "_operator.floordiv"}, Infix{"*", "_operator.mul"},
                               Infix{"%", "_operator.mod"}};

/// Precedence levels, lowest first.
constexpr std::array<std::span<const Infix>, 5> kLevels{kOr, kAnd, kCompare, kAdd, kMultiply};
constexpr size_t kComparisons = 2;

Expression call(const char* name, Expression left, Expression right = nullptr) {
  const auto known = symbolic_operator(name);
  if (!known) return nullptr;
  return [function = known->function, left = std::move(left),
          right = std::move(right)](const Inputs& inputs) {
    std::vector<c10::IValue> values{left(inputs)};
    if (right) values.push_back(right(inputs));
    return function(values);
  };
}

/// Recursive-descent parser. Returns empty expressions for unsupported syntax.
class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& inputs)
      : rest_(text), inputs_(inputs) {}

  Expression parse() {
    Expression all = infix(0);
    skip_spaces();
    return rest_.empty() ? all : nullptr;
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
      // ** (power) is not supported.
      skip_spaces();
      if (infix.text == "*" && rest_.starts_with("**")) continue;
      if (take(infix.text)) return &infix;
    }
    return nullptr;
  }

  Expression infix(size_t level) {
    if (level == kLevels.size()) return prefix();
    Expression left = infix(level + 1);
    size_t count = 0;
    while (left) {
      const Infix* const operation = take_infix(level);
      if (operation == nullptr) return left;
      // Chained comparisons (1 < n < 8) are not supported.
      if (level == kComparisons && ++count > 1) return nullptr;
      Expression right = infix(level + 1);
      if (!right) return nullptr;
      left = call(operation->function, std::move(left), std::move(right));
    }
    return nullptr;
  }

  Expression prefix() {
    if (++depth_ > kMaxDepth) return nullptr;
    Expression inner;
    if (take("not ")) {
      inner = negated("torch.sym_not", infix(kComparisons));
    } else if (take("-")) {
      inner = negated("_operator.neg", prefix());
    } else if (take("(")) {
      inner = infix(0);
      if (!take(")")) inner = nullptr;
    } else {
      inner = take("L[") ? size() : constant();
    }
    --depth_;
    return inner;
  }

  static Expression negated(const char* function, Expression operand) {
    return operand ? call(function, std::move(operand)) : nullptr;
  }

  /// 'NAME'].size()[DIMENSION]
  Expression size() {
    if (!take("'")) return nullptr;
    const std::string_view name = rest_.substr(0, rest_.find('\''));
    rest_.remove_prefix(std::min(name.size(), rest_.size()));
    const auto found = std::ranges::find(inputs_, name);
    if (found == inputs_.end() || !take("'].size()[")) return nullptr;
    const auto dimension = number();
    if (!dimension || !take("]")) return nullptr;
    return [input = static_cast<size_t>(found - inputs_.begin()),
            dimension = *dimension](const Inputs& inputs) -> c10::IValue {
      return inputs.at(input).toTensor().size(dimension);
    };
  }

  Expression constant() {
    const auto value = number();
    if (!value) return nullptr;
    return [value = *value](const Inputs&) { return value; };
  }

  std::optional<int64_t> number() {
    skip_spaces();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (rest_.starts_with('.')) return std::nullopt;  // floats are not supported
    return value;
  }

  std::string_view rest_;
  const std::vector<std::string>& inputs_;
  int depth_ = 0;
};

}  // namespace

Guard::Guard(std::string_view text, const std::vector<std::string>& inputs)
    : text_(text.substr(0, kMaxLength)) {
  if (text.size() <= kMaxLength) condition_ = Parser(text, inputs).parse();
}

bool Guard::holds(const std::vector<c10::IValue>& inputs) const {
  try {
    return condition_(inputs).toScalar().toBool();
  } catch (const scheduler::BackendError&) {
    return false;
  } catch (const c10::Error&) {  // the input lacks the dimension
    return false;
  }
}

}  // namespace backend
