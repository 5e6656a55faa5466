#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "targets.h"

namespace fuzz {
namespace {

/// Removed at a normal exit of the process.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("fuzz-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

}  // namespace

std::string written(std::string_view content, const std::string& name) {
  static const Folder folder;
  const std::filesystem::path path = folder.path / name;
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

}  // namespace fuzz
