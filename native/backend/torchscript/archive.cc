#include "torchscript/archive.h"

#include <caffe2/serialize/inline_container.h>

#include <new>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "backend/model_config.h"
#include "files/mapped_file.h"
#include "files/pickle_reader.h"
#include "files/zip_directory.h"
#include "runtime/runtime.h"
#include "torchscript/source.h"

namespace backend {
namespace {

/// The code of the largest classifiers takes one or two.
constexpr uint64_t kMaxCode = 8ULL << 20U;
/// Code, and what is kept for error messages: all that torch.jit.save deflates.
constexpr uint64_t kMaxUnpacked = 256ULL << 20U;

/// Values inside values: torch.jit.load and what frees them again call themselves for each.
class Nesting {
 public:
  static void require_shallow(const PickleValue& value) { Nesting().visit(value, 0); }

 private:
  static constexpr size_t kMax = 200;

  /// Returns how deeply values lie inside this one.
  size_t visit(const PickleValue& value, size_t depth) {
    const PickleItems* items = items_of(value);
    if (!items) return 0;
    const auto [entry, is_new] = heights_.try_emplace(items, kMax);  // until it is known
    size_t height = entry->second;
    if (is_new && depth < kMax) {
      height = 0;
      for (const PickleValue& item : *items) height = std::max(height, visit(item, depth + 1) + 1);
      heights_[items] = height;
    }
    if (depth + height >= kMax) throw LoadError("holds values that nest too deeply");
    return height;
  }

  static const PickleItems* items_of(const PickleValue& value) {
    if (const auto* tuple = std::get_if<PickleTuple>(&value)) return tuple->items;
    if (const auto* list = std::get_if<PickleList>(&value)) return list->items;
    if (const auto* dict = std::get_if<PickleDict>(&value)) return dict->items;
    return nullptr;
  }

  std::unordered_map<const PickleItems*, size_t> heights_;
};

class Archive {
 public:
  Archive(const MappedFile& file, const std::string& path)
      : records_(read_zip_directory(file.bytes(), kMaxUnpacked)), reader_(path) {}

  void require_harmless_code() {
    uint64_t size = 0;
    for (const auto& [name, record] : records_) {
      if (!name.starts_with("code/") || !name.ends_with(".py")) continue;
      size += record.size;
      if (size > kMaxCode) throw LoadError("holds more code than any classifier");
      require_plain_source(text_of(name), name);
    }
    if (size == 0) {
      throw LoadError(
          "is a PyTorch archive without code: save the model with "
          "torch.jit.script(model).save(...), not its state_dict");
    }
  }

  /// A pickle of modules or constants, and the storages that it refers to.
  void require_harmless_pickle(const std::string& folder) {
    const std::string name = folder + ".pkl";
    (void)records_.record(name);  // there is one
    try {
      const std::string text = text_of(name);
      std::string_view rest = text;
      const Pickle pickle(rest, PickleOf::kTorchScript);
      Nesting::require_shallow(pickle.value());
      for (const auto& storage : pickle.storages()) require_whole(storage, folder);
      for (const auto& tensor : pickle.tensors()) {
        if (lies_inside(tensor, tensor.storage.length)) continue;
        throw LoadError("holds a tensor whose shape does not fit its storage, " + folder + "/" +
                        *tensor.storage.key);
      }
    } catch (const LoadError& error) {
      throw LoadError(name + ": " + error.what());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      throw LoadError(name + ": is not what torch.jit.save writes");
    }
  }

 private:
  void require_whole(const StorageReference& storage, const std::string& folder) const {
    const std::string name = folder + "/" + *storage.key;
    const auto record = records_.find(name);
    if (storage.length == 0) return;
    if (record == records_.end()) throw LoadError("refers to " + name + ", which is not there");
    if (record->second.size != byte_size(storage)) {
      throw LoadError("refers to " + std::to_string(byte_size(storage)) + " bytes of " + name +
                      ", which has " + std::to_string(record->second.size));
    }
  }

  std::string text_of(const std::string& record) {
    const auto [data, size] = reader_.getRecord(record);
    return {static_cast<const char*>(data.get()), size};
  }

  ZipDirectory records_;
  caffe2::serialize::PyTorchStreamReader reader_;
};

}  // namespace

void require_harmless_archive(const std::string& path) {
  const MappedFile file(path);  // says plainly when it cannot be read
  try {
    Archive archive(file, path);
    archive.require_harmless_code();
    archive.require_harmless_pickle("constants");
    archive.require_harmless_pickle("data");
  } catch (const LoadError& error) {
    throw LoadError(file.name() + ": " + error.what());
  } catch (...) {
    throw LoadError(file.name() + ": is no TorchScript file: " + message_of_current_exception());
  }
}

}  // namespace backend
