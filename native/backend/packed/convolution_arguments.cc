// Which calls of ATen's convolutions are PackedConvolutions.
#include <algorithm>
#include <array>
#include <optional>

#include "packed/convolution.h"

namespace backend {
namespace {

/// Places of the arguments of an operator.
struct Form {
  std::string_view name;
  size_t arguments, groups;
  std::optional<size_t> transposed;
};

/// weight, bias, stride, padding and dilation have the places 1 to 5 in all of them.
constexpr std::array<Form, 3> kForms{
    {{"aten::conv1d", 7, 6, {}}, {"aten::convolution", 9, 8, 6}, {"aten::_convolution", 13, 8, 6}}};

bool is_float_tensor(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         value.toTensor().scalar_type() == at::kFloat &&
         value.toTensor().layout() == at::kStrided && value.toTensor().numel() > 0;
}

/// From `least` on, and such that sums of a few do not overflow.
std::optional<int64_t> only_number(const c10::IValue& list, int64_t least) {
  constexpr int64_t kMax = 1'000'000'000;
  if (!list.isIntList() || list.toIntVector().size() != 1) return std::nullopt;
  const int64_t number = list.toIntVector().front();
  return number >= least && number <= kMax ? std::optional(number) : std::nullopt;
}

/// padding: a list, "same" or "valid".
bool add_padding(const c10::IValue& padding, const at::Tensor& weight, FilterPlaces& places) {
  if (padding.isString()) {
    if (padding.toStringRef() == "valid") return true;
    if (padding.toStringRef() != "same" || places.stride != 1) return false;
    const int64_t zeros = places.dilation * (weight.size(2) - 1);
    places.zeros_before = zeros / 2;
    places.zeros_behind = zeros - places.zeros_before;
    return true;
  }
  const auto zeros = only_number(padding, 0);
  if (!zeros) return false;
  places.zeros_before = places.zeros_behind = *zeros;
  return true;
}

std::optional<FilterPlaces> places_of(std::span<const c10::IValue> arguments,
                                      const at::Tensor& weight) {
  constexpr size_t kStride = 3, kPadding = 4, kDilation = 5;
  const auto stride = only_number(arguments[kStride], 1);
  const auto dilation = only_number(arguments[kDilation], 1);
  if (!stride || !dilation) return std::nullopt;
  if (*stride > 1 && *dilation > 1) return std::nullopt;
  FilterPlaces places{.stride = *stride, .dilation = *dilation};
  if (!add_padding(arguments[kPadding], weight, places)) return std::nullopt;
  return places;
}

}  // namespace

std::shared_ptr<const PackedConvolution> packed_convolution(
    std::string_view name, std::span<const c10::IValue> arguments) {
  const auto form = std::ranges::find(kForms, name, &Form::name);
  if (form == kForms.end() || arguments.size() != form->arguments) return nullptr;
  const bool in_groups = !arguments[form->groups].isInt() || arguments[form->groups].toInt() != 1;
  const bool transposed = form->transposed && !(arguments[*form->transposed].isBool() &&
                                                !arguments[*form->transposed].toBool());
  if (in_groups || transposed || !is_float_tensor(arguments[1])) return nullptr;
  const at::Tensor& weight = arguments[1].toTensor();
  const c10::IValue& bias = arguments[2];
  const bool has_bias = is_float_tensor(bias) && bias.toTensor().dim() == 1 &&
                        bias.toTensor().size(0) == weight.size(0);
  if (weight.dim() != 3 || !(has_bias || bias.isNone())) return nullptr;
  const auto places = places_of(arguments, weight);
  if (!places) return nullptr;
  return std::make_shared<const PackedConvolution>(
      weight, has_bias ? bias.toTensor() : at::Tensor(), *places);
}

}  // namespace backend
