#include "checkpoint/original_names.h"

namespace backend {
namespace {

/// Position of `part` between dots; npos: `name` does not contain it.
size_t find_part(std::string_view name, std::string_view part) {
  for (size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
    const size_t end = at + part.size();
    const bool begins = at == 0 || name[at - 1] == '.';
    if (begins && (end == name.size() || name[end] == '.')) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<std::string> current_names(std::string_view name, std::span<const LayerNames> layers) {
  std::vector<std::string> names{std::string(name)};
  for (const auto& [original, current] : layers) {
    const std::string before = names.front();
    const size_t at = find_part(before, original);
    if (at == std::string::npos) continue;
    names.clear();
    for (const std::string_view part : current) {
      if (part.empty()) break;
      names.push_back(std::string(before).replace(at, original.size(), part));
    }
  }
  return names;
}

}  // namespace backend
