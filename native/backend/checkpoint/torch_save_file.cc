#include "checkpoint/torch_save_file.h"

#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <caffe2/serialize/inline_container.h>

#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "common/error.h"
#include "common/files/mapped_file.h"
#include "common/files/pickle_reader.h"
#include "common/files/zip_directory.h"
#include "runtime/runtime.h"

namespace backend {
namespace {

using namespace std::string_view_literals;

/// The integer 0x1950a86a20f9469cfc6c at the start of the old format, and the end of its pickle.
constexpr auto kLegacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv;
constexpr int64_t kLegacyProtocol = 1001;

/// Returns the elements of a storage as a one-dimensional tensor in the stored type.
using StorageReader = std::function<at::Tensor(const common::StorageReference&)>;

at::Tensor empty_storage(const common::StorageReference& storage) {
  return at::empty({storage.length}, at::TensorOptions(storage.type));
}

/// Converts a dictionary of tensors. Each storage is read once, even if tensors share it.
NamedTensors named_tensors(const common::PickleValue& value, const StorageReader& read) {
  const auto* dict = std::get_if<common::PickleDict>(&value);
  if (!dict) throw common::LoadError("contains no dictionary of tensors");
  std::unordered_map<std::string, at::Tensor> storages;
  const auto view = [&](const common::TensorReference& tensor) {
    const common::StorageReference& storage = tensor.storage;
    auto it = storages.find(*storage.key);
    if (it == storages.end()) it = storages.emplace(*storage.key, read(storage)).first;
    const at::Tensor& elements = it->second;
    if (elements.scalar_type() != storage.type) {
      throw common::LoadError("uses a storage with two types");
    }
    if (!common::lies_inside(tensor, elements.numel())) {
      throw common::LoadError("has a shape that does not fit its storage");
    }
    return at::as_strided(elements, tensor.sizes, tensor.strides, tensor.offset + storage.offset);
  };
  NamedTensors named;
  const common::PickleItems& items = *dict->items;
  if (items.size() % 2 != 0) throw common::LoadError("holds a name without a tensor");
  for (size_t i = 0; i < items.size(); i += 2) {
    const auto* name = std::get_if<const std::string*>(&items[i]);
    if (!name) throw common::LoadError("holds an entry whose name is no string");
    const auto* tensor = std::get_if<const common::TensorReference*>(&items[i + 1]);
    if (!tensor) throw common::LoadError(**name + ": is not a tensor, expected a state_dict");
    if (named.contains(**name)) throw common::LoadError(**name + ": is duplicated");
    try {
      named.emplace(**name, view(**tensor));
    } catch (const common::LoadError& error) {
      throw common::LoadError(**name + ": " + error.what());
    }
  }
  return named;
}

/// Reads the zip format: data.pkl, and data/<key> for each storage. Source: torch/serialization.py,
/// _save.
NamedTensors read_zip(const std::string& path, size_t file_size) {
  caffe2::serialize::PyTorchStreamReader reader(path);
  // A damaged directory can contain any size, and records can overlap: a record is at most as large
  // as the file, and all records together are at most kMaxUnpacked times as large, which allows for
  // compression.
  constexpr size_t kMaxUnpacked = 8;
  size_t all = 0;
  const auto checked_size = [&](const std::string& record) {
    const size_t size = reader.getRecordSize(record);
    if (size > file_size) throw common::LoadError(record + " is larger than the file");
    all += size;
    if (all / kMaxUnpacked > file_size)
      throw common::LoadError("its records are larger than the file");
    return size;
  };
  const auto text_of = [&](const std::string& record) {
    std::string text(checked_size(record), '\0');
    reader.getRecord(record, text.data(), text.size());
    return text;
  };
  if (reader.hasRecord("byteorder") && text_of("byteorder") != "little") {
    throw common::LoadError("was written on a big-endian machine");
  }
  const std::string pickled = text_of("data.pkl");
  std::string_view rest = pickled;
  const common::Pickle pickle(rest);
  return named_tensors(pickle.value(), [&](const common::StorageReference& storage) {
    const std::string record = "data/" + *storage.key;
    const size_t size = common::byte_size(storage);
    if (checked_size(record) != size) throw common::LoadError("is not as long as its storage");
    at::Tensor elements = empty_storage(storage);
    if (size > 0) reader.getRecord(record, elements.mutable_data_ptr(), size);
    return elements;
  });
}

using BytesByKey = std::unordered_map<std::string_view, std::string_view>;

/// Storages after the pickles: for each key an int64 number of elements, and the elements.
BytesByKey legacy_storages(const common::Pickle& state_dict, const common::Pickle& keys,
                           std::string_view rest) {
  std::unordered_map<std::string_view, size_t> element_sizes;
  for (const auto& storage : state_dict.storages()) {
    element_sizes.emplace(*storage.key, c10::elementSize(storage.type));
  }
  BytesByKey storages;
  for (const auto& item : *std::get<common::PickleList>(keys.value()).items) {
    const std::string& key = *std::get<const std::string*>(item);
    uint64_t length = 0;
    size_t size = 0;
    if (rest.size() < sizeof(length)) throw common::LoadError("ends before its storage " + key);
    std::memcpy(&length, rest.data(), sizeof(length));
    rest.remove_prefix(sizeof(length));
    const bool overflow = __builtin_mul_overflow(length, element_sizes.at(key), &size);
    if (overflow || size > rest.size())
      throw common::LoadError("ends in the middle of its storage " + key);
    storages.emplace(key, rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return storages;
}

void require_little_endian(const common::Pickle& machine) {
  const common::PickleItems& facts = *std::get<common::PickleDict>(machine.value()).items;
  for (size_t i = 0; i + 1 < facts.size(); i += 2) {
    const bool is_order = *std::get<const std::string*>(facts[i]) == "little_endian";
    if (is_order && !std::get<bool>(facts[i + 1])) {
      throw common::LoadError("was written on a big-endian machine");
    }
  }
}

/// Reads the format before PyTorch 1.6: pickles of magic number, protocol, system info, state_dict
/// and storage keys. Source: torch/serialization.py, _legacy_load.
NamedTensors read_legacy(std::string_view rest) {
  rest.remove_prefix(rest.find(kLegacyMagic) + kLegacyMagic.size());
  if (std::get<int64_t>(common::Pickle(rest).value()) != kLegacyProtocol) {
    throw common::LoadError("is of an unknown version of the format before PyTorch 1.6");
  }
  require_little_endian(common::Pickle(rest));
  const common::Pickle state_dict(rest);
  const common::Pickle keys(rest);
  const BytesByKey storages = legacy_storages(state_dict, keys, rest);
  return named_tensors(state_dict.value(), [&](const common::StorageReference& storage) {
    const std::string_view bytes = storages.at(*storage.key);
    if (bytes.size() != common::byte_size(storage))
      throw common::LoadError("is not as long as its storage");
    at::Tensor elements = empty_storage(storage);
    if (!bytes.empty()) std::memcpy(elements.mutable_data_ptr(), bytes.data(), bytes.size());
    return elements;
  });
}

NamedTensors read(const std::string& path, std::string_view bytes) {
  if (bytes.starts_with("PK\x03\x04"sv)) return read_zip(path, bytes.size());
  // The magic number follows the pickle protocol and, since protocol 4, a frame of nine bytes.
  const size_t magic = bytes.substr(0, 2 + 9 + kLegacyMagic.size()).find(kLegacyMagic);
  if (bytes.starts_with('\x80') && magic != std::string_view::npos) return read_legacy(bytes);
  throw common::LoadError("is not a readable PyTorch checkpoint: no file that torch.save wrote");
}

NamedTensors view_zip(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  const common::ZipDirectory records = common::read_zip_directory(bytes, 0);
  records.require_little_endian();
  std::string_view rest = records.record("data.pkl").text();
  const common::Pickle pickle(rest);
  return named_tensors(pickle.value(), [&](const common::StorageReference& storage) {
    const auto record = records.find("data/" + *storage.key);
    if (storage.length == 0) return empty_storage(storage);
    if (record == records.end() || record->second.size != common::byte_size(storage)) {
      throw common::LoadError("is not as long as its storage");
    }
    return view_elements(record->second.bytes, storage.type, owner);
  });
}

/// Calls read(), and converts errors of pickles with other content to LoadError.
template <class Read>
NamedTensors of_state_dict(const Read& read) {
  try {
    return read();
  } catch (const std::bad_variant_access&) {
    throw common::LoadError("is a pickle, but not of a state_dict");
  } catch (const std::out_of_range&) {
    throw common::LoadError("is a pickle, but not of a state_dict");
  }
}

}  // namespace

at::Tensor view_elements(std::span<const std::byte> bytes, at::ScalarType type,
                         const std::shared_ptr<const void>& owner) {
  const size_t element = c10::elementSize(type);
  const auto count = static_cast<int64_t>(bytes.size() / element);
  void* const data = const_cast<std::byte*>(bytes.data());  // views are read-only
  if (!bytes.empty() && reinterpret_cast<uintptr_t>(data) % element != 0) {
    at::Tensor copy = at::empty({count}, at::TensorOptions(type));
    std::memcpy(copy.mutable_data_ptr(), data, bytes.size());
    return copy;
  }
  return at::from_blob(data, {count}, [owner](void*) {}, at::TensorOptions(type));
}

NamedTensors view_torch_save(std::span<const std::byte> bytes,
                             const std::shared_ptr<const void>& owner) {
  return of_state_dict([&] { return view_zip(bytes, owner); });
}

NamedTensors read_torch_save(const std::string& path) {
  const common::MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string where = file.name() + ": ";
  try {
    return of_state_dict(
        [&] { return read(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}); });
  } catch (const common::LoadError& error) {
    throw common::LoadError(where + error.what());
  } catch (...) {
    throw common::LoadError(
        where + "is not a readable PyTorch checkpoint: " + message_of_current_exception());
  }
}

}  // namespace backend
