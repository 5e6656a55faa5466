// Tensors of a checkpoint, in their stored types.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/files/mapped_file.h"

namespace backend {

/// Tensors by name, from safetensors files (memory-mapped) or files of torch.save.
class Checkpoint {
 public:
  struct Entry {
    at::Tensor tensor;  ///< in the stored type; undefined if models cannot have this type
    std::string file;   ///< file name, for error messages
    std::string type;   ///< type name of the file format, for error messages
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  /// Opens a single file or all shards: *.safetensors, otherwise files of torch.save. Throws
  /// LoadError.
  static Checkpoint open(const std::vector<std::string>& paths);

  const Entries& entries() const { return entries_; }

  /// Total size of the files: an upper bound of the weights' size.
  size_t bytes() const { return bytes_; }

  /// Name of the first file, for errors that concern no specific tensor.
  const std::string& first_file() const { return first_file_; }

  /// Releases the pages of the mapped files. Call it after loading.
  void release_pages() const;

 private:
  void add_safetensors(std::shared_ptr<common::MappedFile> file);
  void add_pytorch_bin(const std::string& path, const std::string& file);
  void add(const std::string& stored_name, Entry entry);

  Entries entries_;
  size_t bytes_ = 0;
  std::string first_file_;
  std::vector<std::shared_ptr<common::MappedFile>> files_;
};

}  // namespace backend
