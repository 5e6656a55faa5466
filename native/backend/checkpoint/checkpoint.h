// The tensors of a checkpoint, as they are stored.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "files/mapped_file.h"

namespace backend {

/// Tensors by name, from safetensors files (mapped, not copied) or from files of torch.save.
class Checkpoint {
 public:
  struct Entry {
    at::Tensor
        tensor;        ///< in the stored type; undefined when that is no type of a weight or buffer
    std::string file;  ///< the file's name, for messages
    std::string type;  ///< as the file calls it, for messages
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  /// One file, or every shard: *.safetensors, else what torch.save wrote. Throws LoadError.
  static Checkpoint open(const std::vector<std::string>& paths);

  const Entries& entries() const { return entries_; }

  /// Of all files: no model of theirs can have more weights.
  size_t bytes() const { return bytes_; }

  /// The name of the first file, for messages that are about no tensor.
  const std::string& first_file() const { return first_file_; }

  /// After loading: what was copied out of the mapped files is no longer held.
  void release_pages() const;

 private:
  void add_safetensors(std::shared_ptr<MappedFile> file);
  void add_pytorch_bin(const std::string& path, const std::string& file);
  void add(const std::string& stored_name, Entry entry);

  Entries entries_;
  size_t bytes_ = 0;
  std::string first_file_;
  std::vector<std::shared_ptr<MappedFile>> files_;
};

}  // namespace backend
