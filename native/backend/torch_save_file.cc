#include "torch_save_file.h"

#include <ATen/ops/empty.h>
#include <caffe2/serialize/inline_container.h>

#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "backend/model_config.h"
#include "pickle_reader.h"
#include "runtime.h"

namespace backend {
namespace {

/// The storages of an archive, each read once however many tensors share it.
class ArchiveStorages {
 public:
  explicit ArchiveStorages(caffe2::serialize::PyTorchStreamReader& reader) : reader_(reader) {}

  at::Tensor operator()(const std::string& key, at::ScalarType type, int64_t length) {
    if (const auto it = loaded_.find(key); it != loaded_.end()) return it->second;
    const auto [data, size] = reader_.getRecord("data/" + key);
    at::Tensor elements = at::empty({length}, at::TensorOptions(type));
    if (size < elements.nbytes()) throw LoadError("holds a storage that is cut short");
    std::memcpy(elements.mutable_data_ptr(), data.get(), elements.nbytes());
    return loaded_.emplace(key, std::move(elements)).first->second;
  }

 private:
  caffe2::serialize::PyTorchStreamReader& reader_;
  std::unordered_map<std::string, at::Tensor> loaded_;
};

std::map<std::string, at::Tensor> named_tensors(const PickleValue& value) {
  const auto* dict = std::get_if<PickleDict>(&value);
  if (!dict) throw LoadError("holds no dictionary of tensors");
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [key, item] : **dict) {
    const auto* name = std::get_if<std::string>(&key);
    if (!name) throw LoadError("holds an entry whose name is no string");
    const auto* tensor = std::get_if<at::Tensor>(&item);
    if (!tensor) throw LoadError(*name + ": is no tensor; expected a state_dict");
    tensors.emplace(*name, *tensor);
  }
  return tensors;
}

}  // namespace

std::map<std::string, at::Tensor> read_torch_save(const std::string& path,
                                                  const std::string& file) {
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    if (reader.hasRecord("byteorder")) {
      const auto [order, size] = reader.getRecord("byteorder");
      if (std::string_view(static_cast<const char*>(order.get()), size) != "little") {
        throw LoadError("was written on a big-endian machine");
      }
    }
    const auto [bytes, size] = reader.getRecord("data.pkl");
    ArchiveStorages storages(reader);
    const std::string_view pickle(static_cast<const char*>(bytes.get()), size);
    return named_tensors(read_pickle(pickle, std::ref(storages)));
  } catch (const LoadError& error) {
    throw LoadError(file + ": " + error.what());
  } catch (const std::bad_variant_access&) {
    throw LoadError(file + ": is a pickle, but not of a state_dict");
  } catch (const std::out_of_range&) {
    throw LoadError(file + ": is a pickle, but not of a state_dict");
  } catch (...) {
    throw LoadError(file +
                    ": is not a readable PyTorch checkpoint (the zip format of torch.save): " +
                    message_of_current_exception());
  }
}

}  // namespace backend
