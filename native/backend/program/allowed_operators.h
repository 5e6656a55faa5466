// The operators that a program may use.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace backend {

/// Whether classifiers need the operator (`aten::conv1d`, `prim::If`), or `added` names it. The
/// form that writes in place (`aten::add_`) is allowed where the other one is. None of them reaches
/// beyond the tensors that it is given: no files, no processes, no other memory, no lasting state.
bool is_allowed(std::string_view name, const std::set<std::string>& added);

}  // namespace backend
