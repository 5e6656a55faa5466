#include <cstring>

#include "common/error.h"
#include "programs/torchscript/archive.h"
#include "targets.h"

namespace fuzz {

void torchscript_archive(std::string_view input) {
  const std::string path = written(input, "model.pt");
  try {
    backend::validate_archive(path);
  } catch (const common::LoadError& error) {
    require(std::strncmp(error.what(), "model.pt: ", 10) == 0, "a message that names the file");
  }
}

}  // namespace fuzz
