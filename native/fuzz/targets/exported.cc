#include "programs/exported/exported.h"

#include <chrono>
#include <cstring>

#include "backend/backends.h"
#include "common/error.h"
#include "scheduler/backend.h"
#include "targets.h"

namespace fuzz {

void exported(std::string_view input) {
  const std::string path = written(input, "model.pt2");
  // Constant subgraphs are executed, within the limits of a load.
  backend::ComputeOptions compute;
  compute.run_limit = std::chrono::milliseconds(2000);
  try {
    backend::load_exported(path, compute);
  } catch (const common::LoadError& error) {
    require(std::strncmp(error.what(), "model.pt2: ", 11) == 0, "a message that names the file");
  } catch (const scheduler::RunTimeout&) {
  }
}

}  // namespace fuzz
