#include "programs/report.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace backend {
namespace {

/// PyTorch's name of a type.
std::string name_of(c10::ScalarType type) {
  using enum c10::ScalarType;
  static const auto* names = new std::map<c10::ScalarType, const char*>{
      {Float, "float32"}, {Double, "float64"}, {Half, "float16"}, {Long, "int64"},
      {Int, "int32"},     {Short, "int16"},    {Char, "int8"},    {Byte, "uint8"}};
  if (const auto found = names->find(type); found != names->end()) return found->second;
  std::string name = c10::toString(type);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

}  // namespace

DimRange without_01_specialization(DimRange range) {
  constexpr int64_t kOfDynamic = 2;
  if (!range.is_fixed() && range.min <= kOfDynamic) range.min = 0;
  return range;
}

std::string describe(const DimRange& given) {
  const DimRange range = without_01_specialization(given);
  if (range.is_fixed()) return std::to_string(range.min);
  const bool is_bounded = range.max != DimRange{}.max;
  if (!is_bounded && range.min == 0) return "any number";
  if (!is_bounded) return std::to_string(range.min) + " and more";
  return std::to_string(std::max<int64_t>(range.min, 1)) + " to " + std::to_string(range.max);
}

std::string describe(std::span<const DimRange> sizes) {
  std::string text;
  for (const DimRange& size : sizes) text += (text.empty() ? "" : ", ") + describe(size);
  return "[" + text + "]";
}

std::string describe(const std::vector<ProgramInput>& inputs) {
  if (inputs.empty()) return "no input";
  std::string names;
  for (const ProgramInput& input : inputs) names += (names.empty() ? "" : ", ") + input.name;
  return std::to_string(inputs.size()) + (inputs.size() == 1 ? " input (" : " inputs (") + names +
         ")";
}

std::string fixed_number_warning(const std::string& file, int64_t number,
                                 const std::string& thing) {
  return file + ": was exported for exactly " + std::to_string(number) + " " + thing +
         (number == 1 ? ": requests cannot share a run"
                      : "s a run: where fewer wait, as many are computed") +
         "; scripts/export.py, or dynamic_shapes with {0: torch.export.Dim.DYNAMIC} for each "
         "input, "
         "exports it for any number";
}

ValueReport described(const ProgramInput& input) {
  ValueReport report{.name = input.name, .type = {}, .sizes = {}};
  if (input.type) report.type = name_of(*input.type);
  if (input.sizes) report.sizes = describe(std::span<const DimRange>(*input.sizes));
  return report;
}

void WeightCount::add(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return;
  if (!seen_.insert(tensor.const_data_ptr()).second) return;
  numbers_ += static_cast<uint64_t>(tensor.numel());
  bytes_ += tensor.nbytes();
  types_.insert(name_of(tensor.scalar_type()));
}

void WeightCount::write_to(ProgramReport& report) const {
  report.weight_count = numbers_;
  report.weight_bytes = bytes_;
  report.weight_types.assign(types_.begin(), types_.end());
}

}  // namespace backend
