// A read-only memory-mapped file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace common {

/// A read-only mapping of a file. Processes that map the same file share its pages.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);  ///< throws LoadError
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& name() const { return name_; }  ///< file name without its folder

  /// Excludes the pages read so far from this process's memory. A later access reads them again.
  void release_pages() const;

 private:
  std::string name_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace common
