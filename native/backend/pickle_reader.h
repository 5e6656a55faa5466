// Pickles of a state_dict, read without running what a pickle could run.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace backend {

/// A name that a pickle refers to, such as torch._utils._rebuild_tensor_v2.
struct PickleGlobal {
  std::string name;
};

/// The elements of one tensor or several, as they lie in the archive.
struct PickleStorage {
  at::Tensor elements;  ///< one dimension
};

struct PickleValue;
using PickleList = std::shared_ptr<std::vector<PickleValue>>;
using PickleDict = std::shared_ptr<std::vector<std::pair<PickleValue, PickleValue>>>;

struct PickleTuple {
  PickleList items;
};

/// std::monostate is None. Floats do not occur in a state_dict.
struct PickleValue : std::variant<std::monostate, bool, int64_t, std::string, PickleGlobal,
                                  PickleStorage, at::Tensor, PickleTuple, PickleList, PickleDict> {
  using variant::variant;
};

/// Gives the storage of a key: one dimension of that type and length.
using StorageLoader =
    std::function<at::Tensor(const std::string& key, at::ScalarType type, int64_t length)>;

/// A pickle is a program that may call any Python function. This reader knows the few instructions
/// and the few names that a state_dict consists of (tensors, storages, OrderedDict) and refuses
/// every other one by its name. Throws LoadError, or std::bad_variant_access or std::out_of_range
/// where a pickle is well-formed and no state_dict.
PickleValue read_pickle(std::string_view bytes, const StorageLoader& load_storage);

}  // namespace backend
