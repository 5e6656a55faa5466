#include "common/files/pickle_reader.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "common/files/pickle_bytes.h"

namespace common {
namespace {

/// A state_dict needs about 60 instructions for each tensor, a TorchScript file a few for each
/// attribute.
constexpr size_t kMaxInstructions = 4'000'000;
constexpr size_t kMaxItems = 16'000'000;
constexpr size_t kMaxDimensions = 64;

std::vector<int64_t> integers(const PickleTuple& tuple) {
  if (tuple.items->size() > kMaxDimensions)
    throw LoadError("holds a tensor of too many dimensions");
  std::vector<int64_t> values;
  for (const auto& item : *tuple.items) values.push_back(std::get<int64_t>(item));
  return values;
}

}  // namespace

/// Stack machine that interprets the opcodes of a pickle.
class PickleMachine {
 public:
  PickleMachine(std::string_view& bytes, Pickle& pickle, PickleKind kind)
      : bytes_(bytes), pickle_(pickle), kind_(kind) {}

  PickleValue read() {
    for (size_t count = 0; count < kMaxInstructions; ++count) {
      const auto opcode = static_cast<Opcode>(bytes_.byte());
      if (opcode == kStop) return pop();
      step(opcode);
    }
    throw LoadError("has a pickle with too many instructions");
  }

 private:
  void step(Opcode opcode) {
    switch (opcode) {
      case kProto:
        bytes_.byte();
        break;
      case kFrame:
        bytes_.take(8);
        break;
      case kMark:
        return marks_.push_back(stack_.size());
      case kNone:
        return push(std::monostate());
      case kNewTrue:
      case kNewFalse:
        return push(opcode == kNewTrue);
      case kBinInt:
        return push(int64_t{static_cast<int32_t>(bytes_.unsigned_number(4))});
      case kBinInt1:
      case kBinInt2:
        return push(static_cast<int64_t>(bytes_.unsigned_number(opcode == kBinInt1 ? 1 : 2)));
      case kLong1:
        return push(bytes_.sized_number());
      case kBinFloat:
        return push(bytes_.real_number());
      case kBinUnicode:
      case kBinString:
        return push(keep(bytes_.take(bytes_.unsigned_number(4))));
      case kShortBinUnicode:
      case kShortBinString:
        return push(keep(bytes_.take(bytes_.byte())));
      default:
        step_object(opcode);
    }
  }

  void step_object(Opcode opcode) {
    switch (opcode) {
      case kGlobal: {
        std::string name(bytes_.line());
        push_global((name += '.') += bytes_.line());
        break;
      }
      case kStackGlobal: {
        const PickleItems names = pop_many(2);
        const std::string module = *std::get<const std::string*>(names[0]);
        push_global(module + "." + *std::get<const std::string*>(names[1]));
        break;
      }
      case kBinPersId:
        return push(&pickle_.storages_.emplace_back(storage_of(std::get<PickleTuple>(pop()))));
      case kReduce:
        return reduce();
      case kBuild:
        return build(pop());
      case kNewObj:
        pop();
        return make_object();
      case kBinPut:
      case kLongBinPut:
        memo_[bytes_.unsigned_number(opcode == kBinPut ? 1 : 4)] = top();
        break;
      case kMemoize: {
        const uint64_t next = memo_.size();
        memo_[next] = top();
        break;
      }
      case kBinGet:
      case kLongBinGet:
        return push(memo_.at(bytes_.unsigned_number(opcode == kBinGet ? 1 : 4)));
      default:
        step_container(opcode);
    }
  }

  void step_container(Opcode opcode) {
    switch (opcode) {
      case kEmptyDict:
        return push(PickleDict{keep(PickleItems())});
      case kEmptyList:
        return push(PickleList{keep(PickleItems())});
      case kEmptyTuple:
        return push(PickleTuple{keep(PickleItems())});
      case kTuple:
        return push(PickleTuple{keep(pop_to_mark())});
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return push(PickleTuple{keep(pop_many(opcode - kTuple1 + 1U))});
      case kAppend:
        return extend<PickleList>(pop_many(1));
      case kAppends:
        return extend<PickleList>(pop_to_mark());
      case kSetItem:
        return extend<PickleDict>(pop_many(2));
      case kSetItems:
        return extend<PickleDict>(pop_to_mark());
      default:
        throw LoadError("uses the pickle instruction " + std::to_string(opcode) + not_allowed());
    }
  }

  void push_global(const std::string& name) {
    const auto found = find_global(name, kind_);
    if (!found) throw LoadError("refers to " + name + not_allowed());
    push(PickleGlobal{keep(name), *found});
  }

  /// Executes REDUCE. The only allowed calls create an OrderedDict, a tensor or a parameter; in
  /// TorchScript files also a typed list or a device.
  void reduce() {
    const PickleValue given = pop();
    const auto [name, is] = std::get<PickleGlobal>(pop());
    if (is.kind == Global::Kind::kObject) {  // an enumeration: its value is not in a tuple
      push(PickleTuple{keep(PickleItems{given})});
      return;
    }
    const PickleItems& arguments = *std::get<PickleTuple>(given).items;
    if (is.kind == Global::Kind::kOrderedDict) {
      push(PickleDict{keep(arguments.empty() ? PickleItems() : pairs_of(arguments.at(0)))});
    } else if (is.kind == Global::Kind::kTensor) {
      push(&pickle_.tensors_.emplace_back(tensor_of(arguments)));
    } else if (is.kind == Global::Kind::kFirstArgument) {
      if (arguments.size() > 1) require_plain_type(arguments[1]);
      push(arguments.at(0));
    } else {
      throw LoadError("calls " + *name + not_allowed());
    }
  }

  /// Rejects deeply nested types, List[Dict[str, …]]: LibTorch parses them recursively.
  static void require_plain_type(const PickleValue& type) {
    constexpr std::ptrdiff_t kMaxBrackets = 64;
    const auto* text = std::get_if<const std::string*>(&type);
    if (text && std::ranges::count(**text, '[') > kMaxBrackets) {
      throw LoadError("holds a type that nests too deeply");
    }
  }

  /// Creates an object as a tuple with its state.
  void make_object() {
    const auto [name, is] = std::get<PickleGlobal>(pop());
    if (is.kind != Global::Kind::kObject) {
      throw LoadError("makes a new " + *name + not_allowed());
    }
    push(PickleTuple{keep(PickleItems())});
  }

  /// Sets the state of an object. Attributes of an OrderedDict or a Parameter (_metadata) are
  /// ignored.
  void build(const PickleValue& state) {
    if (kind_ == PickleKind::kTorchScript) std::get<PickleTuple>(top()).items->push_back(state);
  }

  std::string not_allowed() const {
    return ", which is not allowed in " + std::string(description_of(kind_));
  }

  /// Converts [[key, value], …], Python 2's form of an OrderedDict.
  static PickleItems pairs_of(const PickleValue& list) {
    PickleItems items;
    for (const auto& item : *std::get<PickleList>(list).items) {
      const PickleItems& pair = *std::get<PickleList>(item).items;
      items.push_back(pair.at(0));
      items.push_back(pair.at(1));
    }
    return items;
  }

  /// Converts ("storage", type, key, location, elements); the old format adds None or (view key,
  /// offset, elements). Source: torch/serialization.py, _save and _legacy_load.
  static StorageReference storage_of(const PickleTuple& id) {
    const PickleItems& items = *id.items;
    const Global type = std::get<PickleGlobal>(items.at(1)).is;
    if (type.kind != Global::Kind::kStorageType) {
      throw LoadError("holds a storage of an unknown type");
    }
    StorageReference storage{.key = std::get<const std::string*>(items.at(2)),
                             .type = type.elements,
                             .length = std::get<int64_t>(items.at(4))};
    if (items.size() > 5 && !std::holds_alternative<std::monostate>(items[5])) {
      storage.offset = std::get<int64_t>(std::get<PickleTuple>(items[5]).items->at(1));
    }
    return storage;
  }

  /// Converts (storage, offset, size, stride, …). Source: torch/_utils.py, _rebuild_tensor_v2.
  TensorReference tensor_of(const PickleItems& arguments) {
    count_items(std::get<PickleTuple>(arguments.at(2)).items->size() +
                std::get<PickleTuple>(arguments.at(3)).items->size());
    return {.storage = *std::get<const StorageReference*>(arguments.at(0)),
            .offset = std::get<int64_t>(arguments.at(1)),
            .sizes = integers(std::get<PickleTuple>(arguments.at(2))),
            .strides = integers(std::get<PickleTuple>(arguments.at(3)))};
  }

  template <typename Container>
  void extend(const PickleItems& items) {
    PickleItems& all = *std::get<Container>(top()).items;
    all.insert(all.end(), items.begin(), items.end());
  }

  const std::string* keep(std::string_view text) { return &pickle_.strings_.emplace_back(text); }
  PickleItems* keep(PickleItems items) {
    count_items(items.size());
    return &pickle_.items_.emplace_back(std::move(items));
  }

  void count_items(size_t count) {
    items_kept_ += count;
    if (items_kept_ > kMaxItems) throw LoadError("has a pickle with too many values");
  }

  template <typename Value>
  void push(Value value) {
    stack_.emplace_back(std::move(value));
  }
  PickleValue& top() {
    if (stack_.empty()) throw LoadError("ends in the middle of its pickle");
    return stack_.back();
  }
  PickleValue pop() {
    const PickleValue value = top();
    stack_.pop_back();
    return value;
  }
  PickleItems pop_many(size_t count) {
    if (count > stack_.size()) throw LoadError("ends in the middle of its pickle");
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    PickleItems items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return items;
  }
  PickleItems pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) {
      throw LoadError("ends in the middle of its pickle");
    }
    const size_t mark = marks_.back();
    marks_.pop_back();
    return pop_many(stack_.size() - mark);
  }

  PickleBytes bytes_;
  Pickle& pickle_;
  PickleKind kind_;
  PickleItems stack_;
  std::vector<size_t> marks_;
  size_t items_kept_ = 0;
  std::unordered_map<uint64_t, PickleValue> memo_;
};

Pickle::Pickle(std::string_view& bytes, PickleKind kind) {
  value_ = PickleMachine(bytes, *this, kind).read();
}

}  // namespace common
