// The conditions on sizes under which a program is the model that was exported.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace backend {

/// A condition as torch.export writes it, in Python: `L['x'].size()[0] % 4 == 0 or …`.
class Guard {
 public:
  /// inputs: names of the program's inputs, in order.
  Guard(std::string_view text, const std::vector<std::string>& inputs);

  const std::string& text() const { return text_; }

  /// Whether it is a condition that can be checked here: integers, sizes of inputs, arithmetic,
  /// comparisons, `and`, `or` and `not`.
  bool is_known() const { return condition_ != nullptr; }

  /// Of tensors. False, too, where it has no value, as after a division by zero.
  bool holds(const std::vector<c10::IValue>& inputs) const;

 private:
  std::string text_;
  std::function<c10::IValue(const std::vector<c10::IValue>&)> condition_;
};

}  // namespace backend
