// Keeps a test program to the setting INSTRUCTIONS, and LibTorch's libraries where it has them.
#include <cstdio>
#include <cstdlib>

#include "gemm/instruction_limit.h"
#if defined(WITH_LIBTORCH)
#include "backend/backends.h"
#endif

namespace {

/// Before any test: a limit that cannot be had ends the program, for it would test something else.
[[maybe_unused]] const bool is_limited = [] {
  const std::string problem = gemm::limit_problem();
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::_Exit(2);
  }
#if defined(WITH_LIBTORCH)
  backend::limit_instructions();
#endif
  return true;
}();

}  // namespace
