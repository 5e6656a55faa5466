#include "programs/torchscript/archive.h"

#include <caffe2/serialize/inline_container.h>

#include <new>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "common/error.h"
#include "common/files/mapped_file.h"
#include "common/files/pickle_reader.h"
#include "common/files/zip_directory.h"
#include "programs/torchscript/source.h"
#include "runtime/runtime.h"

namespace backend {
namespace {

/// Maximum size of the code. Large classifiers need 1 to 2 MiB.
constexpr uint64_t kMaxCode = 8ULL << 20U;
/// Maximum uncompressed size of compressed records: code and debug information.
constexpr uint64_t kMaxUnpacked = 256ULL << 20U;

/// Nesting depth of pickled values, which torch.jit.load and the destructors process recursively.
class Nesting {
 public:
  static void require_shallow(const common::PickleValue& value) { Nesting().visit(value, 0); }

 private:
  static constexpr size_t kMax = 200;

  /// Returns the nesting depth below `value`.
  size_t visit(const common::PickleValue& value, size_t depth) {
    const common::PickleItems* items = items_of(value);
    if (!items) return 0;
    const auto [entry, is_new] = heights_.try_emplace(items, kMax);  // until its depth is known
    size_t height = entry->second;
    if (is_new && depth < kMax) {
      height = 0;
      for (const common::PickleValue& item : *items)
        height = std::max(height, visit(item, depth + 1) + 1);
      heights_[items] = height;
    }
    if (depth + height >= kMax) throw common::LoadError("holds values that nest too deeply");
    return height;
  }

  static const common::PickleItems* items_of(const common::PickleValue& value) {
    if (const auto* tuple = std::get_if<common::PickleTuple>(&value)) return tuple->items;
    if (const auto* list = std::get_if<common::PickleList>(&value)) return list->items;
    if (const auto* dict = std::get_if<common::PickleDict>(&value)) return dict->items;
    return nullptr;
  }

  std::unordered_map<const common::PickleItems*, size_t> heights_;
};

class Archive {
 public:
  Archive(const common::MappedFile& file, const std::string& path)
      : records_(common::read_zip_directory(file.bytes(), kMaxUnpacked)), reader_(path) {}

  void validate_code() {
    uint64_t size = 0;
    for (const auto& [name, record] : records_) {
      if (!name.starts_with("code/") || !name.ends_with(".py")) continue;
      size += record.size;
      if (size > kMaxCode) throw common::LoadError("holds too much code");
      validate_source(text_of(name), name);
    }
    if (size == 0) {
      throw common::LoadError(
          "is a PyTorch archive without code: save the model with "
          "torch.jit.script(model).save(...), not its state_dict");
    }
  }

  /// Validates a pickle of modules or constants, and the storages it refers to.
  void validate_pickle(const std::string& folder) {
    const std::string name = folder + ".pkl";
    (void)records_.record(name);  // throws if missing
    try {
      const std::string text = text_of(name);
      std::string_view rest = text;
      const common::Pickle pickle(rest, common::PickleKind::kTorchScript);
      Nesting::require_shallow(pickle.value());
      for (const auto& storage : pickle.storages()) require_complete(storage, folder);
      for (const auto& tensor : pickle.tensors()) {
        if (common::lies_inside(tensor, tensor.storage.length)) continue;
        throw common::LoadError("holds a tensor whose shape does not fit its storage, " + folder +
                                "/" + *tensor.storage.key);
      }
    } catch (const common::LoadError& error) {
      throw common::LoadError(name + ": " + error.what());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      throw common::LoadError(name + ": is not what torch.jit.save writes");
    }
  }

 private:
  void require_complete(const common::StorageReference& storage, const std::string& folder) const {
    const std::string name = folder + "/" + *storage.key;
    const auto record = records_.find(name);
    if (storage.length == 0) return;
    if (record == records_.end())
      throw common::LoadError("refers to " + name + ", which is missing");
    if (record->second.size != common::byte_size(storage)) {
      throw common::LoadError("refers to " + std::to_string(common::byte_size(storage)) +
                              " bytes of " + name + ", which has " +
                              std::to_string(record->second.size));
    }
  }

  std::string text_of(const std::string& record) {
    const auto [data, size] = reader_.getRecord(record);
    return {static_cast<const char*>(data.get()), size};
  }

  common::ZipDirectory records_;
  caffe2::serialize::PyTorchStreamReader reader_;
};

}  // namespace

void validate_archive(const std::string& path) {
  const common::MappedFile file(path);  // throws a clear error if the file cannot be read
  try {
    Archive archive(file, path);
    archive.validate_code();
    archive.validate_pickle("constants");
    archive.validate_pickle("data");
  } catch (const common::LoadError& error) {
    throw common::LoadError(file.name() + ": " + error.what());
  } catch (...) {
    throw common::LoadError(file.name() +
                            ": is not a TorchScript file: " + message_of_current_exception());
  }
}

}  // namespace backend
