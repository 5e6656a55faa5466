#include "programs/text_inputs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include "common/error.h"
#include "programs/report.h"

namespace backend {
namespace {

constexpr std::array<std::string_view, 3> kNames{"input_ids", "attention_mask", "token_type_ids"};

/// Inputs of transformers models that are not supported.
constexpr std::array<std::string_view, 6> kOthers{
    "position_ids", "inputs_embeds", "head_mask", "labels", "decoder_input_ids", "pixel_values"};

std::optional<TextRole> role_named(const std::string& name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<TextRole>(found - kNames.begin());
}

std::vector<TextRole> roles_of(const std::vector<ProgramInput>& inputs, const std::string& file) {
  const bool has_others = std::ranges::any_of(inputs, [](const ProgramInput& input) {
    return std::ranges::find(kOthers, input.name) != kOthers.end();
  });
  if (inputs.empty() || inputs.size() > kNames.size() || has_others) {
    throw common::LoadError(
        file + ": takes " + describe(inputs) +
        ", expected input_ids, attention_mask and token_type_ids, or some of them");
  }
  std::vector<TextRole> named;
  std::vector<TextRole> in_order;
  for (const ProgramInput& input : inputs) {
    in_order.push_back(static_cast<TextRole>(in_order.size()));
    if (const auto role = role_named(input.name)) named.push_back(*role);
  }
  const bool all_named =
      named.size() == inputs.size() && std::set(named.begin(), named.end()).size() == named.size();
  return all_named ? named : in_order;
}

c10::ScalarType type_of(const ProgramInput& input, TextRole role, const std::string& file) {
  const c10::ScalarType type = input.type.value_or(c10::kLong);
  const bool is_mask = role == TextRole::kAttentionMask;
  const bool holds_ids = type == c10::kLong || type == c10::kInt;
  const bool holds_mask = c10::isFloatingType(type) || type == c10::kBool;
  if (holds_ids || (is_mask && holds_mask)) return type;
  throw common::LoadError(
      file + ": " + input.name + ": takes " + c10::toString(type) + ", expected " +
      (is_mask ? "int64, int32, bool or a floating-point type" : "int64 or int32"));
}

/// Intersection of ranges; min > max: empty.
DimRange both(const DimRange& a, const DimRange& b) {
  return {.min = std::max(a.min, b.min), .max = std::min(a.max, b.max)};
}

/// Intersects the ranges of `inputs` with those of an input.
void narrow(TextInputs& inputs, const ProgramInput& input, const std::string& file) {
  if (!input.sizes) return;
  const std::vector<DimRange>& sizes = *input.sizes;
  if (sizes.size() != 2) {
    throw common::LoadError(file + ": " + input.name + ": has " + std::to_string(sizes.size()) +
                            " dimensions, expected [texts, length]");
  }
  const DimRange texts = both(inputs.texts, without_01_specialization(sizes[0]));
  const DimRange length = both(inputs.length, without_01_specialization(sizes[1]));
  const auto require_some = [&](const DimRange& range, const char* what, const DimRange& own,
                                const DimRange& others) {
    if (range.min <= range.max && range.max > 0) return;
    throw common::LoadError(file + ": " + input.name + ": takes " + what + " " + describe(own) +
                            ", which does not overlap the other inputs' " + describe(others));
  };
  require_some(texts, "a number of texts of", sizes[0], inputs.texts);
  require_some(length, "a length of", sizes[1], inputs.length);
  inputs.texts = texts;
  inputs.length = length;
  inputs.has_sizes = true;
}

}  // namespace

bool TextInputs::has(TextRole role) const {
  return std::ranges::find(in_order, role, &TextTensor::role) != in_order.end();
}

TextInputs text_inputs_of(const std::vector<ProgramInput>& inputs, const std::string& file) {
  const std::vector<TextRole> roles = roles_of(inputs, file);
  TextInputs result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    result.in_order.push_back({.role = roles[i], .type = type_of(inputs[i], roles[i], file)});
    narrow(result, inputs[i], file);
  }
  if (!result.has(TextRole::kInputIds)) {
    throw common::LoadError(file + ": takes " + describe(inputs) +
                            ", expected input_ids among them");
  }
  return result;
}

}  // namespace backend
