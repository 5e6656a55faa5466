// What no processor runs, and ends in a SIGILL.
#pragma once

inline void run_no_instruction() {
#if defined(__x86_64__)
  asm volatile("ud2");
#elif defined(__aarch64__)
  asm volatile("udf #0");
#else
#error "which instruction does this processor not have?"
#endif
}
