#include "checkpoint/checkpoint.h"

#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "checkpoint/torch_save_file.h"
#include "common/error.h"
#include "runtime/runtime.h"
#include "tokenizers/bridge.h"

namespace backend {
namespace {

/// Type of a weight (floating point) or buffer; undefined for safetensors types that models cannot
/// have.
at::ScalarType scalar_type(std::string_view dtype) {
  static const auto* types = new std::map<std::string, at::ScalarType, std::less<>>{
      {"F32", at::kFloat}, {"F16", at::kHalf},  {"BF16", at::kBFloat16}, {"F64", at::kDouble},
      {"I64", at::kLong},  {"I32", at::kInt},   {"I16", at::kShort},     {"I8", at::kChar},
      {"U8", at::kByte},   {"BOOL", at::kBool},
  };
  const auto it = types->find(dtype);
  return it == types->end() ? at::ScalarType::Undefined : it->second;
}

/// A view of the mapped file, which the tensor keeps alive; a copy if the elements are not aligned.
/// Weights are never written.
at::Tensor mapped_tensor(const std::shared_ptr<common::MappedFile>& file,
                         const tokenizers::Tensor& view, at::ScalarType type) {
  const auto bytes = file->bytes().subspan(view.begin, view.end - view.begin);
  try {
    const at::Tensor elements = view_elements(bytes, type, file);
    void* const data = const_cast<void*>(elements.const_data_ptr());
    const at::IntArrayRef shape(view.shape.data(), view.shape.size());
    return at::from_blob(data, shape, [elements](void*) {}, at::TensorOptions(type));
  } catch (const c10::Error&) {  // 0 elements, but an overflow: [0, 2**62, 8]
    throw common::LoadError(file->name() + ": " + std::string(view.name) + ": " +
                            message_of_current_exception());
  }
}

/// Rejects Git LFS pointers, which `git clone` creates instead of large files if Git LFS is not
/// installed.
void require_no_pointer(const common::MappedFile& file) {
  const auto bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("version https://git-lfs.github.com/spec/")) {
    throw common::LoadError(
        file.name() + ": is a Git LFS pointer, not the file itself: fetch it with git lfs pull");
  }
}

/// Renames gamma and beta of layer norms, as in checkpoints converted from TensorFlow
/// (transformers, conversion_mapping.py, "legacy").
std::string current_name(const std::string& stored_name) {
  for (const auto& [old_end, new_end] :
       {std::pair<std::string_view, std::string_view>{"LayerNorm.gamma", "LayerNorm.weight"},
        {"LayerNorm.beta", "LayerNorm.bias"}}) {
    if (stored_name.ends_with(old_end)) {
      return stored_name.substr(0, stored_name.size() - old_end.size()) + std::string(new_end);
    }
  }
  return stored_name;
}

/// Name of the adapter's tensor in the base model. peft wraps the model, and each adapted layer.
std::string name_in_base(const std::string& stored_name, const std::string& file) {
  constexpr std::string_view kPrefix = "base_model.model.", kLayer = ".base_layer.";
  if (!stored_name.starts_with(kPrefix)) {
    throw common::LoadError(file + ": " + stored_name + ": expected a name that begins with \"" +
                            std::string(kPrefix) + "\". Save the adapter with peft");
  }
  std::string name = stored_name.substr(kPrefix.size());
  if (const size_t at = name.rfind(kLayer); at != std::string::npos) {
    name.replace(at, kLayer.size(), ".");
  }
  return name;
}

}  // namespace

std::string with_other_prefix(std::string_view key, std::string_view base_prefix) {
  if (base_prefix.empty()) return {};
  const std::string prefix = std::string(base_prefix) + ".";
  return key.starts_with(prefix) ? std::string(key.substr(prefix.size()))
                                 : prefix + std::string(key);
}

Checkpoint Checkpoint::open(const std::vector<std::string>& paths) {
  Checkpoint checkpoint;
  for (const auto& path : paths) {
    auto file = std::make_shared<common::MappedFile>(
        path);  // throws a clear error if the file cannot be read
    require_no_pointer(*file);
    if (checkpoint.bytes_ == 0) checkpoint.first_file_ = file->name();
    checkpoint.bytes_ += file->bytes().size();
    if (path.ends_with(".safetensors")) {
      checkpoint.add_safetensors(std::move(file));
    } else {
      checkpoint.add_pytorch_bin(path, file->name());
    }
  }
  return checkpoint;
}

/// Splits tensors into views of their parts. A tensor that has no such parts keeps its name.
void Checkpoint::rename_layers(std::span<const LayerNames> layers) {
  Entries renamed;
  const auto add_renamed = [&renamed](const std::string& name, const Entry& entry) {
    if (renamed.emplace(name, entry).second) return;
    throw common::LoadError(entry.file + ": " + name + ": is duplicated under two names");
  };
  for (const auto& [name, entry] : entries_) {
    const std::vector<std::string> names = current_names(name, layers);
    const auto count = static_cast<int64_t>(names.size());
    const at::Tensor& tensor = entry.tensor;
    if (count == 1) {
      add_renamed(names.front(), entry);
    } else if (!tensor.defined() || tensor.dim() == 0 || tensor.size(0) % count != 0) {
      add_renamed(name, entry);
    } else {
      const int64_t rows = tensor.size(0) / count;
      for (int64_t i = 0; i < count; ++i) {
        Entry part = entry;
        part.tensor = tensor.narrow(0, i * rows, rows);
        add_renamed(names[static_cast<size_t>(i)], part);
      }
    }
  }
  entries_ = std::move(renamed);
}

void Checkpoint::add_adapter(const LoraAdapter& adapter, std::string_view base_prefix,
                             const NamesInTransformers& names) {
  Checkpoint own = open({adapter.weight_file});
  Entries renamed;
  for (auto& [stored_name, entry] : own.entries_) {
    entry.is_of_adapter = true;
    std::string name = name_in_base(stored_name, entry.file);
    if (!names.prefix.empty() && name.starts_with(std::string(names.prefix) + ".")) {
      name.erase(0, names.prefix.size() + 1);
    }
    if (!renamed.emplace(name, std::move(entry)).second) {
      throw common::LoadError(own.first_file_ + ": " + name + ": is duplicated in this file");
    }
  }
  if (std::ranges::none_of(renamed, [&names](const auto& entry) {
        return current_names(entry.first, names.layers).front() != entry.first;
      })) {
    rename_layers(names.layers);
  }
  for (auto& [name, entry] : renamed) {
    entries_.erase(with_other_prefix(name, base_prefix));
    entries_.insert_or_assign(name, std::move(entry));
  }
  lora_layers_ = adapter.layers;
  bytes_ += own.bytes_;
  files_.insert(files_.end(), own.files_.begin(), own.files_.end());
}

const LoraAdapter::Layer* Checkpoint::lora_layer(std::string_view module) const {
  const auto it = lora_layers_.find(module);
  return it == lora_layers_.end() ? nullptr : &it->second;
}

void Checkpoint::release_pages() const {
  for (const auto& file : files_) file->release_pages();
}

void Checkpoint::add_safetensors(std::shared_ptr<common::MappedFile> file) {
  const auto bytes = file->bytes();
  rust::Vec<tokenizers::Tensor> views;
  try {
    views = tokenizers::parse_safetensors(
        {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  } catch (const rust::Error& error) {
    throw common::LoadError(file->name() + ": " + error.what());
  }
  for (const auto& view : views) {
    const std::string dtype(view.dtype);
    const at::ScalarType type = scalar_type(dtype);
    const at::Tensor tensor =
        type == at::ScalarType::Undefined ? at::Tensor() : mapped_tensor(file, view, type);
    add(std::string(view.name), {tensor, file->name(), dtype});
  }
  files_.push_back(std::move(file));
}

void Checkpoint::add_pytorch_bin(const std::string& path, const std::string& file) {
  for (auto& [name, tensor] : read_torch_save(path)) {
    const std::string type = c10::toString(tensor.scalar_type());
    add(name, {std::move(tensor), file, type});
  }
}

void Checkpoint::add(const std::string& stored_name, Entry entry) {
  const std::string name = current_name(stored_name);
  const auto [existing, inserted] = entries_.emplace(name, std::move(entry));
  if (!inserted) {
    throw common::LoadError(existing->second.file + ": " + name +
                            ": is duplicated in this file or in another shard");
  }
}

}  // namespace backend
