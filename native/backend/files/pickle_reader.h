// Pickles of a state_dict, read without running what a pickle could run.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "files/pickle_globals.h"
#include "files/tensor_reference.h"

namespace backend {

/// A name that a pickle refers to, such as torch._utils._rebuild_tensor_v2.
struct PickleGlobal {
  const std::string* name;
  Global is;
};

struct PickleValue;
using PickleItems = std::vector<PickleValue>;

/// Also an object of a script: its one item is what it was built from.
struct PickleTuple {
  PickleItems* items;
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
/// and the few names that a state_dict consists of (tensors, storages, OrderedDict), or the modules
/// and attributes of a TorchScript file, and refuses every other one by its name.
class Pickle {
 public:
  /// Removes what it has read, one pickle, from the front of `bytes`. Throws LoadError, or
  /// std::bad_variant_access or std::out_of_range where a pickle is well-formed and of another
  /// kind.
  explicit Pickle(std::string_view& bytes, PickleOf what = PickleOf::kStateDict);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& value() const { return value_; }

  /// Every storage that it refers to, some of them several times.
  const std::deque<StorageReference>& storages() const { return storages_; }
  const std::deque<TensorReference>& tensors() const { return tensors_; }

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
