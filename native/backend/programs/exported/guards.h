// Guards: conditions on input sizes under which the exported graph is valid.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace backend {

/// A condition in torch.export's Python syntax: `L['x'].size()[0] % 4 == 0 or …`.
class Guard {
 public:
  /// inputs: names of the program's inputs, in order.
  Guard(std::string_view text, const std::vector<std::string>& inputs);

  const std::string& text() const { return text_; }

  /// True if the condition can be evaluated: integers, input sizes, arithmetic, comparisons, `and`,
  /// `or`, `not`.
  bool is_supported() const { return condition_ != nullptr; }

  /// Evaluates the condition. `inputs`: tensors. False if it has no value, for example after a
  /// division by zero.
  bool holds(const std::vector<c10::IValue>& inputs) const;

 private:
  std::string text_;
  std::function<c10::IValue(const std::vector<c10::IValue>&)> condition_;
};

}  // namespace backend
