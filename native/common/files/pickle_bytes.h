// Opcodes of pickles, and a bounds-checked byte reader.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "common/error.h"

namespace common {

/// Opcodes of pickles of state_dicts and TorchScript files.
/// Source: CPython, Lib/pickle.py; torch.save writes protocol 2 by default.
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kEmptyList = ']',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProto = 0x80,
  kFrame = 0x95,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
};

/// Reads from the front of `bytes`. Throws LoadError at the end of the data.
class PickleBytes {
 public:
  explicit PickleBytes(std::string_view& bytes) : bytes_(bytes) {}

  uint8_t byte() { return static_cast<uint8_t>(take(1).front()); }

  std::string_view take(uint64_t count) {
    if (count > bytes_.size()) throw LoadError("ends in the middle of its pickle");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  /// Reads a line; the line end is removed.
  std::string_view line() {
    const size_t end = bytes_.find('\n');
    if (end == std::string_view::npos) throw LoadError("ends in the middle of its pickle");
    const std::string_view text = take(end);
    take(1);
    return text;
  }

  /// Reads a little-endian integer of up to 8 bytes.
  uint64_t unsigned_number(size_t size) {
    uint64_t value = 0;
    const std::string_view digits = take(size);
    for (size_t i = 0; i < size; ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(digits[i])) << (8 * i);
    }
    return value;
  }

  /// Reads a byte with the size, and a little-endian two's complement integer of that size.
  int64_t sized_number() {
    const size_t size = byte();
    if (size > sizeof(int64_t)) throw LoadError("holds an integer of more than 64 bits");
    uint64_t value = unsigned_number(size);
    const size_t bits = 8 * size;
    const bool negative = size > 0 && ((value >> (bits - 1)) & 1U) != 0;
    if (negative && bits < 64) value |= ~uint64_t{0} << bits;
    return static_cast<int64_t>(value);
  }

  /// Reads a big-endian IEEE 754 number.
  double real_number() {
    uint64_t bits = 0;
    for (const char digit : take(8)) bits = bits << 8U | static_cast<uint8_t>(digit);
    return std::bit_cast<double>(bits);
  }

 private:
  std::string_view& bytes_;
};

}  // namespace common
