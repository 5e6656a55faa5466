// Tensors of a checkpoint, in their stored types.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backends.h"
#include "checkpoint/original_names.h"
#include "common/files/mapped_file.h"

namespace backend {

/// Tensors by name, from safetensors files (memory-mapped) or files of torch.save.
class Checkpoint {
 public:
  struct Entry {
    at::Tensor tensor;  ///< in the stored type; undefined if models cannot have this type
    std::string file;   ///< file name, for error messages
    std::string type;   ///< type name of the file format, for error messages
    bool is_of_adapter = false;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  /// Opens a single file or all shards: *.safetensors, otherwise files of torch.save. Throws
  /// LoadError.
  static Checkpoint open(const std::vector<std::string>& paths);

  /// Adds the tensors of a LoRA adapter under the names of the base model. Tensors other than LoRA
  /// factors replace those of the base. If only the base has the names of original code, its
  /// tensors get their names in transformers. base_prefix: see Weights. Throws LoadError.
  void add_adapter(const LoraAdapter& adapter, std::string_view base_prefix,
                   const NamesInTransformers& names = {});

  /// Gives weights with LoRA factors of several tasks the names that they have without factors.
  void set_task_adapters(const TaskAdapters& adapters);

  /// LoRA factors of several tasks; empty: none.
  const std::optional<TaskAdapters>& task_adapters() const { return task_adapters_; }

  const Entries& entries() const { return entries_; }

  /// Rank and scale of a layer's LoRA update, by the name that its factors have in entries(); null:
  /// no adapter, or no such layer.
  const LoraAdapter::Layer* lora_layer(std::string_view module) const;

  /// Total size of the files: an upper bound of the weights' size.
  size_t bytes() const { return bytes_; }

  /// Name of the first file, for errors that concern no specific tensor.
  const std::string& first_file() const { return first_file_; }

  /// Releases the pages of the mapped files. Call it after loading.
  void release_pages() const;

 private:
  void rename_layers(std::span<const LayerNames> layers);
  void add_safetensors(std::shared_ptr<common::MappedFile> file);
  void add_pytorch_bin(const std::string& path, const std::string& file);
  void add(const std::string& stored_name, Entry entry);

  Entries entries_;
  std::map<std::string, LoraAdapter::Layer, std::less<>> lora_layers_;
  std::optional<TaskAdapters> task_adapters_;
  size_t bytes_ = 0;
  std::string first_file_;
  std::vector<std::shared_ptr<common::MappedFile>> files_;
};

/// The other name that a tensor of the base model may have: `key` with the prefix of the base model
/// added or removed. Empty without a prefix.
std::string with_other_prefix(std::string_view key, std::string_view base_prefix);

}  // namespace backend
