#include "runtime/resident_memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace backend {

size_t resident_memory() {
#ifdef __linux__
  // proc(5), statm: pages of the program, of those in memory, …
  std::array<char, 128> text{};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : read(file, text.data(), text.size() - 1);
  if (file >= 0) close(file);
  if (length > 0) {
    char* rest = nullptr;
    std::strtoull(text.data(), &rest, 10);
    const auto pages = static_cast<size_t>(std::strtoull(rest, nullptr, 10));
    return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }
#endif
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<size_t>(usage.ru_maxrss);
#else
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
#endif
}

}  // namespace backend
