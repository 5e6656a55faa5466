#include "common/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/error.h"

namespace common {

MappedFile::MappedFile(const std::string& path)
    : name_(std::filesystem::path(path).filename().string()) {
  const int file =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // does not block on a pipe
  if (file < 0) throw LoadError(name_ + ": cannot be opened: " + std::strerror(errno));
  struct stat status{};
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  size_ = regular ? static_cast<size_t>(status.st_size) : 0;
  void* data = size_ > 0 ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  const int problem = errno;
  close(file);
  if (!regular) throw LoadError(name_ + ": is not a regular file");
  if (size_ == 0) throw LoadError(name_ + ": is empty");
  if (data == MAP_FAILED) throw LoadError(name_ + ": cannot be mapped: " + std::strerror(problem));
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(data_), size_); }

void MappedFile::release_pages() const {
  (void)madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

}  // namespace common
