#include "checkpoint.h"

#include <ATen/ops/from_blob.h>

#include "backend/model_config.h"
#include "hf/safetensors.h"
#include "torch_save_file.h"

namespace backend {
namespace {

/// The stored types that a model's weights come in; anything else is no weight.
at::ScalarType scalar_type(const std::string& dtype, const std::string& where) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "BF16") return at::kBFloat16;
  if (dtype == "F64") return at::kDouble;
  if (dtype == "I64") return at::kLong;  // position_ids of older checkpoints
  throw LoadError(where + ": type " + dtype + " is not supported (F32, F16, BF16 or F64 is)");
}

/// Checkpoints of the TensorFlow days call the weights of a layer norm gamma and beta; the
/// reference renames them as it loads (transformers, modeling_utils.py).
std::string current_name(const std::string& name) {
  for (const auto& [old_end, new_end] :
       {std::pair<std::string_view, std::string_view>{"LayerNorm.gamma", "LayerNorm.weight"},
        {"LayerNorm.beta", "LayerNorm.bias"}}) {
    if (name.ends_with(old_end)) {
      return name.substr(0, name.size() - old_end.size()) + std::string(new_end);
    }
  }
  return name;
}

}  // namespace

Checkpoint Checkpoint::open(const std::vector<std::string>& paths) {
  Checkpoint checkpoint;
  for (const auto& path : paths) {
    if (path.ends_with(".safetensors")) {
      checkpoint.add_safetensors(path);
    } else {
      checkpoint.add_pytorch_bin(path);
    }
  }
  return checkpoint;
}

void Checkpoint::release_pages() const {
  for (const auto& file : files_) file->release_pages();
}

void Checkpoint::add_safetensors(const std::string& path) {
  auto file = std::make_shared<MappedFile>(path);
  const auto bytes = file->bytes();
  std::vector<hf::TensorView> views;
  try {
    views = hf::parse_safetensors(bytes.data(), bytes.size());
  } catch (const hf::Error& error) {
    throw LoadError(file->name() + ": " + error.what());
  }
  for (const auto& view : views) {
    const std::string where = file->name() + ": " + view.name;
    const at::ScalarType type = scalar_type(view.dtype, where);
    // The tensor keeps the mapping alive, and nothing writes to a weight.
    auto* data = const_cast<std::byte*>(bytes.data() + view.begin);
    auto tensor = at::from_blob(data, view.shape, [file](void*) {}, at::TensorOptions(type));
    add(view.name, {std::move(tensor), file->name()});
  }
  files_.push_back(std::move(file));
}

void Checkpoint::add_pytorch_bin(const std::string& path) {
  const std::string file = MappedFile(path).name();  // says plainly when it cannot be read
  for (auto& [name, tensor] : read_torch_save(path, file)) add(name, {std::move(tensor), file});
}

void Checkpoint::add(const std::string& stored_name, Entry entry) {
  const std::string name = current_name(stored_name);
  const auto [existing, inserted] = entries_.emplace(name, std::move(entry));
  if (!inserted) {
    throw LoadError(existing->second.file + ": " + name + ": stands in more than one file");
  }
}

}  // namespace backend
