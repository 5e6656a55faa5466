// Reader of pickles that never executes them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/files/pickle_globals.h"
#include "common/files/tensor_reference.h"

namespace common {

/// A global of a pickle, for example torch._utils._rebuild_tensor_v2.
struct PickleGlobal {
  const std::string* name;
  Global is;
};

struct PickleValue;
using PickleItems = std::vector<PickleValue>;

/// A tuple, or an object of a TorchScript file, whose only item is its state.
struct PickleTuple {
  PickleItems* items;
};
struct PickleList {
  PickleItems* items;
};
struct PickleDict {
  PickleItems* items;  ///< key, value, key, value, …
};

/// A value of a pickle. std::monostate is None. Pointers refer to data of the Pickle.
struct PickleValue : std::variant<std::monostate, bool, int64_t, double, const std::string*,
                                  PickleGlobal, const StorageReference*, const TensorReference*,
                                  PickleTuple, PickleList, PickleDict> {
  using variant::variant;
};

/// A pickle is a program that can call any Python function. This reader implements only the opcodes
/// and globals of state_dicts (tensors, storages, OrderedDict) or of TorchScript modules, and
/// rejects all others by name.
class Pickle {
 public:
  /// Reads one pickle and removes it from the front of `bytes`. Throws LoadError, or
  /// std::bad_variant_access or std::out_of_range if a well-formed pickle has other content.
  explicit Pickle(std::string_view& bytes, PickleKind kind = PickleKind::kStateDict);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& value() const { return value_; }

  /// All storages it refers to, in order; a storage may occur several times.
  const std::deque<StorageReference>& storages() const { return storages_; }
  const std::deque<TensorReference>& tensors() const { return tensors_; }

 private:
  friend class PickleMachine;

  // Flat: a pickle can contain itself, or be nested as deeply as the file is long.
  std::deque<std::string> strings_;
  std::deque<PickleItems> items_;
  std::deque<StorageReference> storages_;
  std::deque<TensorReference> tensors_;
  PickleValue value_;
};

}  // namespace common
