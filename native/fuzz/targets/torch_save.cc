#include <cstring>

#include "checkpoint/torch_save_file.h"
#include "common/error.h"
#include "targets.h"
#include "tensors.h"

namespace fuzz {

void torch_save(std::string_view input) {
  const std::string path = written(input, "model.bin");
  try {
    for (const auto& [name, tensor] : backend::read_torch_save(path)) require_inside(tensor);
  } catch (const common::LoadError& error) {
    require(std::strncmp(error.what(), "model.bin: ", 11) == 0, "a message that names the file");
  }
}

}  // namespace fuzz
