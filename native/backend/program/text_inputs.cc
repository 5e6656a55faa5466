#include "program/text_inputs.h"

#include <cstddef>
#include <set>

#include "backend/model_config.h"

namespace backend {

std::vector<TextInput> text_inputs_of(const std::vector<ProgramInput>& inputs,
                                      const std::string& file) {
  using enum TextInput;
  const std::vector<TextInput> in_order{kInputIds, kAttentionMask, kTokenTypeIds};
  if (inputs.empty() || inputs.size() > in_order.size()) {
    throw LoadError(file + ": forward() takes " + std::to_string(inputs.size()) +
                    " arguments, expected (input_ids, attention_mask) or (input_ids, " +
                    "attention_mask, token_type_ids)");
  }
  std::vector<TextInput> named;
  for (const ProgramInput& input : inputs) {
    if (input.name == "input_ids") named.push_back(kInputIds);
    if (input.name == "attention_mask") named.push_back(kAttentionMask);
    if (input.name == "token_type_ids") named.push_back(kTokenTypeIds);
  }
  if (named.size() == inputs.size() &&
      std::set(named.begin(), named.end()).size() == named.size()) {
    return named;
  }
  return {in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(inputs.size())};
}

}  // namespace backend
