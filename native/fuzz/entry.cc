// libFuzzer entry point of a target: FUZZ_TARGET is the name of the function.
#include <cstddef>
#include <cstdint>

#include "targets/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
