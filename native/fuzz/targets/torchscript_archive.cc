#include <cstring>

#include "backend/model_config.h"
#include "targets.h"
#include "torchscript/archive.h"

namespace fuzz {

void torchscript_archive(std::string_view input) {
  const std::string path = written(input, "model.pt");
  try {
    backend::require_harmless_archive(path);
  } catch (const backend::LoadError& error) {
    require(std::strncmp(error.what(), "model.pt: ", 10) == 0, "a message that names the file");
  }
}

}  // namespace fuzz
