// Names of layers in files of a model's original code.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backend {

/// Part of the names in files of the original code, and in transformers. Several names in
/// transformers: the tensor consists of as many parts of equal size.
struct LayerNames {
  std::string_view original;
  std::array<std::string_view, 3> current;  ///< unused elements are empty
};

/// Names of an architecture that adapters may use instead of those in the files of the base.
struct NamesInTransformers {
  // Designated initializers may omit them: NOLINTBEGIN(readability-redundant-member-init)
  /// Prefix of the base model in transformers; empty: that of the files.
  std::string_view prefix{};
  std::span<const LayerNames> layers{};  ///< names with several parts are last
  // NOLINTEND(readability-redundant-member-init)
};

/// Names in transformers of the parts of a tensor: one without a change, which may be the name
/// itself.
std::vector<std::string> current_names(std::string_view name, std::span<const LayerNames> layers);

}  // namespace backend
