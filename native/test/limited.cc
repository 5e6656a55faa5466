// Applies the setting INSTRUCTION_SET to a test program and to the libraries in LibTorch.
#include <cstdio>
#include <cstdlib>

#include "kernels/cpu.h"
#if defined(WITH_LIBTORCH)
#include "backend/backends.h"
#endif

namespace {

/// Exits if the machine does not support the limit.
bool keep_to_limit() noexcept {
  const std::string problem = kernels::limit_problem();
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::_Exit(2);
  }
#if defined(WITH_LIBTORCH)
  backend::limit_instructions();
#endif
  return true;
}

/// Runs before the first test.
[[maybe_unused]] const bool is_limited = keep_to_limit();

}  // namespace
