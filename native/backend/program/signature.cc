#include "program/signature.h"

#include <algorithm>

namespace backend {

Extent as_meant(Extent extent) {
  constexpr int64_t kOfDynamic = 2;
  if (!extent.is_fixed() && extent.least <= kOfDynamic) extent.least = 0;
  return extent;
}

std::string words_for(const Extent& given) {
  const Extent extent = as_meant(given);
  if (extent.is_fixed()) return std::to_string(extent.least);
  const bool is_bounded = extent.most != Extent{}.most;
  if (!is_bounded && extent.least == 0) return "any number";
  if (!is_bounded) return std::to_string(extent.least) + " and more";
  return std::to_string(std::max<int64_t>(extent.least, 1)) + " to " + std::to_string(extent.most);
}

std::string words_for(const std::vector<ProgramInput>& inputs) {
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

}  // namespace backend
