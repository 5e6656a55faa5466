// Keeps a test program to the setting INSTRUCTIONS, and LibTorch's libraries where it has them.
#include <cstdio>
#include <cstdlib>

#include "kernels/cpu.h"
#if defined(WITH_LIBTORCH)
#include "backend/backends.h"
#endif

namespace {

/// A limit that cannot be had ends the program, for it would test something else.
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

/// Before any test.
[[maybe_unused]] const bool is_limited = keep_to_limit();

}  // namespace
