// Pickles of a state_dict, read without running what a pickle could run.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace backend {

/// The elements that tensors share: where they lie is known by the key.
struct StorageReference {
  const std::string* key = nullptr;
  c10::ScalarType type{};
  int64_t length = 0;  ///< elements
  int64_t offset = 0;  ///< of a view of a storage, which releases before 0.4 wrote; in elements
};

/// A tensor as a view of a storage, nothing of it checked against it. Offset and strides in
/// elements.
struct TensorReference {
  StorageReference storage;
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// A name that a pickle refers to, such as torch._utils._rebuild_tensor_v2.
struct PickleGlobal {
  const std::string* name;
};

struct PickleValue;
using PickleItems = std::vector<PickleValue>;

struct PickleTuple {
  const PickleItems* items;
};
struct PickleList {
  PickleItems* items;
};
struct PickleDict {
  PickleItems* items;  ///< key, value, key, value, …
};

/// std::monostate is None. What is pointed to belongs to the Pickle.
struct PickleValue : std::variant<std::monostate, bool, int64_t, double, const std::string*,
                                  PickleGlobal, const StorageReference*, const TensorReference*,
                                  PickleTuple, PickleList, PickleDict> {
  using variant::variant;
};

/// A pickle is a program that may call any Python function. This reader knows the few instructions
/// and the few names that a state_dict consists of (tensors, storages, OrderedDict) and refuses
/// every other one by its name.
class Pickle {
 public:
  /// Removes what it has read, one pickle, from the front of `bytes`. Throws LoadError, or
  /// std::bad_variant_access or std::out_of_range where a pickle is well-formed and no state_dict.
  explicit Pickle(std::string_view& bytes);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& value() const { return value_; }

  /// Every storage that it refers to, some of them several times.
  const std::deque<StorageReference>& storages() const { return storages_; }

 private:
  friend class PickleMachine;

  // Flat, not nested: a pickle may hold itself, or be nested as deeply as its file is long.
  std::deque<std::string> strings_;
  std::deque<PickleItems> items_;
  std::deque<StorageReference> storages_;
  std::deque<TensorReference> tensors_;
  PickleValue value_;
};

}  // namespace backend
