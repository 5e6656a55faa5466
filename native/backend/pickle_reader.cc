#include "pickle_reader.h"

#include <ATen/ops/as_strided.h>

#include <string_view>
#include <unordered_map>

#include "backend/model_config.h"

namespace backend {
namespace {

/// Source: CPython, Lib/pickle.py; torch.save writes protocol 2.
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kEmptyList = ']',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
};

const std::unordered_map<std::string, at::ScalarType>& storage_types() {
  static const auto* types = new std::unordered_map<std::string, at::ScalarType>{
      {"torch.FloatStorage", at::kFloat}, {"torch.DoubleStorage", at::kDouble},
      {"torch.HalfStorage", at::kHalf},   {"torch.BFloat16Storage", at::kBFloat16},
      {"torch.LongStorage", at::kLong},   {"torch.IntStorage", at::kInt},
      {"torch.ShortStorage", at::kShort}, {"torch.CharStorage", at::kChar},
      {"torch.ByteStorage", at::kByte},   {"torch.BoolStorage", at::kBool},
  };
  return *types;
}

/// A small stack machine over the bytes of a pickle.
class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, const StorageLoader& load_storage)
      : bytes_(bytes), load_storage_(load_storage) {}

  PickleValue read() {
    for (;;) {
      const auto opcode = static_cast<Opcode>(byte());
      if (opcode == kStop) return pop();
      step(opcode);
    }
  }

 private:
  void step(Opcode opcode) {
    switch (opcode) {
      case kProto:
        byte();
        break;
      case kMark:
        marks_.push_back(stack_.size());
        break;
      case kNone:
        stack_.emplace_back(std::monostate());
        break;
      case kNewTrue:
      case kNewFalse:
        stack_.emplace_back(opcode == kNewTrue);
        break;
      case kBinInt:
      case kBinInt1:
      case kBinInt2:
      case kLong1:
        stack_.emplace_back(integer(opcode));
        break;
      case kBinUnicode:
        stack_.emplace_back(std::string(take(static_cast<size_t>(unsigned_number(4)))));
        break;
      case kGlobal:
        read_global();
        break;
      case kBinPersId:
        stack_.emplace_back(storage_of(std::get<PickleTuple>(pop())));
        break;
      case kReduce:
        reduce();
        break;
      case kBuild:
        pop();  // attributes of an OrderedDict or a Parameter (_metadata): nothing reads them
        break;
      default:
        step_container(opcode);
    }
  }

  void step_container(Opcode opcode) {
    switch (opcode) {
      case kEmptyDict:
        stack_.emplace_back(std::make_shared<PickleDict::element_type>());
        break;
      case kEmptyList:
        stack_.emplace_back(std::make_shared<PickleList::element_type>());
        break;
      case kEmptyTuple:
        push_tuple({});
        break;
      case kTuple:
        push_tuple(pop_to_mark());
        break;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        push_tuple(pop_many(opcode - kTuple1 + 1U));
        break;
      case kAppend:
        extend_list(pop_many(1));
        break;
      case kAppends:
        extend_list(pop_to_mark());
        break;
      case kSetItem:
        extend_dict(pop_many(2));
        break;
      case kSetItems:
        extend_dict(pop_to_mark());
        break;
      case kBinPut:
      case kLongBinPut:
        memo_[unsigned_number(opcode == kBinPut ? 1 : 4)] = top();
        break;
      case kBinGet:
      case kLongBinGet:
        stack_.push_back(memo_.at(unsigned_number(opcode == kBinGet ? 1 : 4)));
        break;
      default:
        throw LoadError("uses the pickle instruction " + std::to_string(opcode) +
                        ", which a state_dict has no use for");
    }
  }

  void read_global() {
    std::string name(line());
    name += '.';
    name += line();
    const bool known = name == "collections.OrderedDict" ||
                       name == "torch._utils._rebuild_tensor_v2" ||
                       name == "torch._utils._rebuild_parameter" || storage_types().contains(name);
    if (!known) throw LoadError("refers to " + name + ", which a state_dict has no use for");
    stack_.emplace_back(PickleGlobal{std::move(name)});
  }

  /// The only calls there are: an OrderedDict, a tensor over a storage, a parameter of a tensor.
  void reduce() {
    const PickleTuple arguments = std::get<PickleTuple>(pop());
    const std::string name = std::get<PickleGlobal>(pop()).name;
    if (name == "collections.OrderedDict") {
      stack_.emplace_back(std::make_shared<PickleDict::element_type>());
    } else if (name == "torch._utils._rebuild_tensor_v2") {
      stack_.emplace_back(tensor_of(*arguments.items));
    } else if (name == "torch._utils._rebuild_parameter") {
      stack_.push_back(arguments.items->at(0));
    } else {
      throw LoadError("calls " + name + ", which a state_dict has no use for");
    }
  }

  /// ("storage", type, key, location, number of elements); Source: torch/serialization.py, _save.
  PickleStorage storage_of(const PickleTuple& id) {
    const auto& items = *id.items;
    const auto type = storage_types().find(std::get<PickleGlobal>(items.at(1)).name);
    if (type == storage_types().end()) throw LoadError("holds a storage of an unknown type");
    return {load_storage_(std::get<std::string>(items.at(2)), type->second,
                          std::get<int64_t>(items.at(4)))};
  }

  /// (storage, offset, size, stride, …); Source: torch/_utils.py, _rebuild_tensor_v2.
  static at::Tensor tensor_of(const std::vector<PickleValue>& arguments) {
    const at::Tensor& elements = std::get<PickleStorage>(arguments.at(0)).elements;
    const auto offset = std::get<int64_t>(arguments.at(1));
    const auto sizes = integers(std::get<PickleTuple>(arguments.at(2)));
    const auto strides = integers(std::get<PickleTuple>(arguments.at(3)));
    // as_strided itself refuses what lies outside its storage, negative numbers included.
    return at::as_strided(elements, sizes, strides, offset);
  }

  static std::vector<int64_t> integers(const PickleTuple& tuple) {
    std::vector<int64_t> values;
    values.reserve(tuple.items->size());
    for (const auto& item : *tuple.items) values.push_back(std::get<int64_t>(item));
    return values;
  }

  void push_tuple(std::vector<PickleValue> items) {
    stack_.emplace_back(PickleTuple{std::make_shared<PickleList::element_type>(std::move(items))});
  }
  void extend_list(std::vector<PickleValue> items) {
    const auto list = std::get<PickleList>(top());
    for (auto& item : items) list->push_back(std::move(item));
  }
  void extend_dict(std::vector<PickleValue> items) {
    const auto dict = std::get<PickleDict>(top());
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      dict->emplace_back(std::move(items[i]), std::move(items[i + 1]));
    }
  }

  PickleValue& top() {
    if (stack_.empty()) throw LoadError("ends in the middle of its pickle");
    return stack_.back();
  }
  PickleValue pop() {
    PickleValue value = std::move(top());
    stack_.pop_back();
    return value;
  }
  std::vector<PickleValue> pop_many(size_t count) {
    if (count > stack_.size()) throw LoadError("ends in the middle of its pickle");
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<PickleValue> items(std::make_move_iterator(first),
                                   std::make_move_iterator(stack_.end()));
    stack_.erase(first, stack_.end());
    return items;
  }
  std::vector<PickleValue> pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) {
      throw LoadError("ends in the middle of its pickle");
    }
    const size_t mark = marks_.back();
    marks_.pop_back();
    return pop_many(stack_.size() - mark);
  }

  uint8_t byte() { return static_cast<uint8_t>(take(1).front()); }
  std::string_view take(size_t count) {
    if (count > bytes_.size()) throw LoadError("ends in the middle of its pickle");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view line() {
    const size_t end = bytes_.find('\n');
    const std::string_view text = take(end == std::string_view::npos ? bytes_.size() + 1 : end);
    take(1);
    return text;
  }
  uint64_t unsigned_number(size_t size) {
    uint64_t value = 0;
    const std::string_view digits = take(size);
    for (size_t i = 0; i < size; ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(digits[i])) << (8 * i);
    }
    return value;
  }
  int64_t integer(Opcode opcode) {
    if (opcode == kBinInt) return static_cast<int32_t>(unsigned_number(4));
    if (opcode == kBinInt1) return static_cast<int64_t>(unsigned_number(1));
    if (opcode == kBinInt2) return static_cast<int64_t>(unsigned_number(2));
    const size_t size = byte();
    if (size > sizeof(int64_t)) throw LoadError("holds an integer of more than 64 bits");
    uint64_t value = unsigned_number(size);  // two's complement of `size` bytes
    const size_t bits = 8 * size;
    const bool negative = size > 0 && ((value >> (bits - 1)) & 1U) != 0;
    if (negative && bits < 64) value |= ~uint64_t{0} << bits;
    return static_cast<int64_t>(value);
  }

  std::string_view bytes_;
  const StorageLoader& load_storage_;
  std::vector<PickleValue> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue> memo_;
};

}  // namespace

PickleValue read_pickle(std::string_view bytes, const StorageLoader& load_storage) {
  return PickleMachine(bytes, load_storage).read();
}

}  // namespace backend
