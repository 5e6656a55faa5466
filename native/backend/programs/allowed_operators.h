// Allow-list of the operators of programs.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace backend {

/// True if the operator (`aten::conv1d`, `prim::If`) is on the allow-list or in `added_operators`.
/// In-place variants
/// (`aten::add_`) are allowed like the operator itself. Operators on the list access only their
/// tensors: no files, processes, other memory or lasting state.
bool is_allowed(std::string_view name, const std::set<std::string>& added_operators);

}  // namespace backend
