// A file mapped into memory, read only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace backend {

/// Owns the mapping. The pages are shared with every other process that maps the file.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);  ///< throws LoadError naming the file
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& name() const { return name_; }  ///< without its folder

  /// The pages read so far no longer count as this process's memory; they come back when touched.
  void release_pages() const;

 private:
  std::string name_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace backend
