// The tensors of a checkpoint, as they are stored.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mapped_file.h"

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

  /// After loading: what was copied out of the mapped files is no longer held.
  void release_pages() const;

 private:
  void add_safetensors(const std::string& path);
  void add_pytorch_bin(const std::string& path);
  void add(const std::string& stored_name, Entry entry);

  Entries entries_;
  std::vector<std::shared_ptr<MappedFile>> files_;
};

}  // namespace backend
