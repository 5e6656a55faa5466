#include "exported/exported.h"

#include <chrono>
#include <cstring>

#include "backend/backends.h"
#include "backend/model_config.h"
#include "scheduler/backend.h"
#include "targets.h"

namespace fuzz {

void exported(std::string_view input) {
  const std::string path = written(input, "model.pt2");
  // What depends on no input is run, too: as a load does it, and within its bounds.
  backend::ComputeOptions compute;
  compute.run_limit = std::chrono::milliseconds(2000);
  try {
    backend::load_exported(path, compute);
  } catch (const backend::LoadError& error) {
    require(std::strncmp(error.what(), "model.pt2: ", 11) == 0, "a message that names the file");
  } catch (const scheduler::RunTimeout&) {
  }
}

}  // namespace fuzz
