#include "products/team_in_use.h"

namespace backend {

thread_local gemm::Team* TeamInUse::current_ = nullptr;

}  // namespace backend
