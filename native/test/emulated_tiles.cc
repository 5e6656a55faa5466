#include "emulated_tiles.h"

#if defined(__x86_64__)

#include <sys/ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace {

constexpr int kTiles = 8, kRows = 16, kRowBytes = 64, kColumns = kRowBytes / 4;

struct Tile {
  std::array<std::array<uint8_t, kRowBytes>, kRows> data;

  template <class Number>
  Number at(int row, int column) const {
    Number number;
    std::memcpy(&number, &data[row][static_cast<size_t>(column) * sizeof number], sizeof number);
    return number;
  }
  template <class Number>
  void set(int row, int column, Number number) {
    std::memcpy(&data[row][static_cast<size_t>(column) * sizeof number], &number, sizeof number);
  }
};

/// Of a thread. Palette 0: not configured.
struct State {
  int palette = 0;
  std::array<int, kTiles> rows{}, row_bytes{};
  std::array<Tile, kTiles> tiles{};
};
thread_local State state;

/// An instruction with a VEX prefix of three bytes, of the map 0F 38, and where it ends.
/// Source: Intel, Software Developer's Manual, volume 2, chapter 2.
struct Instruction {
  uint8_t prefix;  ///< 0: none, 1: 66, 2: F3, 3: F2
  uint8_t opcode;
  int reg, rm, vvvv;
  bool has_memory;
  int64_t base;       ///< with the displacement
  int64_t index = 0;  ///< times the scale
  const uint8_t* end;
};

int64_t register_of(const ucontext_t& context, unsigned number) {
  constexpr int kPlaces[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                             REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                             REG_R12, REG_R13, REG_R14, REG_R15};
  return context.uc_mcontext.gregs[kPlaces[number]];
}

constexpr unsigned bits_of(unsigned byte, unsigned from, unsigned count) {
  return byte >> from & ((1U << count) - 1);
}

/// Base, index and displacement of a memory operand.
void decode_memory(const ucontext_t& context, const uint8_t* at, Instruction& to) {
  const unsigned mode = bits_of(*at, 6, 2);
  unsigned base = bits_of(*at, 0, 3);
  const bool high_index = bits_of(at[-3], 6, 1) == 0;
  const bool high_base = bits_of(at[-3], 5, 1) == 0;
  ++at;
  if (base == 4) {  // a SIB byte
    const unsigned index = bits_of(*at, 3, 3) + (high_index ? 8 : 0);
    const auto scale = static_cast<int64_t>(uint64_t{1} << bits_of(*at, 6, 2));
    if (index != 4) to.index = register_of(context, index) * scale;
    base = bits_of(*at, 0, 3);
    ++at;
  }
  int32_t displacement = 0;
  const bool is_relative = to.rm == 5 && mode == 0;  // to the next instruction
  if (mode == 1) {
    displacement = *at < 0x80 ? *at : *at - 0x100;
    at += 1;
  } else if (mode == 2 || (mode == 0 && base == 5)) {
    std::memcpy(&displacement, at, sizeof displacement);
    at += sizeof displacement;
  }
  to.end = at;
  int64_t from = 0;
  if (is_relative) {
    from = reinterpret_cast<int64_t>(at);
  } else if (mode != 0 || base != 5) {
    from = register_of(context, base + (high_base ? 8 : 0));
  }
  to.base = from + displacement;
}

bool decode(const ucontext_t& context, const uint8_t* at, Instruction& to) {
  constexpr uint8_t kVex = 0xc4, kMap = 2;
  const bool is_wide = bits_of(at[2], 7, 1) != 0 || bits_of(at[2], 2, 1) != 0;
  if (at[0] != kVex || bits_of(at[1], 0, 5) != kMap || is_wide) return false;
  to.prefix = static_cast<uint8_t>(bits_of(at[2], 0, 2));
  to.vvvv = static_cast<int>(15 - bits_of(at[2], 3, 4));
  to.opcode = at[3];
  to.reg = static_cast<int>(bits_of(at[4], 3, 3));
  to.rm = static_cast<int>(bits_of(at[4], 0, 3));
  to.has_memory = bits_of(at[4], 6, 2) != 3;
  to.end = at + 5;
  if (to.has_memory) decode_memory(context, at + 4, to);
  return true;
}

/// Where an operand lies in memory, `step` times its index further on.
uint8_t* place_of(const Instruction& given, int64_t step) {
  const int64_t address = given.base + step * given.index;
  return reinterpret_cast<uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// LDTILECFG's operand. False: the processor would refuse it. Refused, too, is the row at which an
/// instruction goes on that was interrupted: processors write it, programs do not.
/// Source: Intel, Software Developer's Manual, LDTILECFG.
bool read_configuration(const uint8_t* from, State& to) {
  constexpr int kBytesAt = 16, kRowsAt = 48, kEnd = 64;
  const auto is_zero = [&](int first, int end) {
    return std::all_of(from + first, from + end, [](uint8_t byte) { return byte == 0; });
  };
  to.palette = from[0];
  if (to.palette == 0) return true;  // all else is ignored
  if (to.palette != 1 || !is_zero(1, kBytesAt)) return false;
  if (!is_zero(kBytesAt + 2 * kTiles, kRowsAt) || !is_zero(kRowsAt + kTiles, kEnd)) return false;
  for (int tile = 0; tile < kTiles; ++tile) {
    uint16_t bytes;
    std::memcpy(&bytes, from + kBytesAt + sizeof bytes * static_cast<size_t>(tile), sizeof bytes);
    to.row_bytes[tile] = bytes;
    to.rows[tile] = from[kRowsAt + tile];
    if (bytes > kRowBytes || to.rows[tile] > kRows) return false;
    if ((bytes == 0) != (to.rows[tile] == 0)) return false;
  }
  return true;
}

/// What a processor does with a configuration that it refuses (#GP).
void raise_protection_fault() {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

void configure(const Instruction& given) {
  State next;
  if (!read_configuration(place_of(given, 1), next)) return raise_protection_fault();
  state = next.palette == 0 ? State{} : next;
}

/// TILELOADD, TILESTORED: the index is what lies between rows.
void load(const Instruction& given) {
  Tile& to = state.tiles[given.reg] = Tile{};
  for (int row = 0; row < state.rows[given.reg]; ++row) {
    std::copy_n(place_of(given, row), state.row_bytes[given.reg], to.data[row].begin());
  }
}

void store(const Instruction& given) {
  const Tile& from = state.tiles[given.reg];
  for (int row = 0; row < state.rows[given.reg]; ++row) {
    std::copy_n(from.data[row].begin(), state.row_bytes[given.reg], place_of(given, row));
  }
}

/// What is subnormal is 0, to the instruction.
float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

float widened(uint16_t bits) { return flushed(std::bit_cast<float>(uint32_t{bits} << 16)); }

float add_product(float sum, float a, float b) { return flushed(std::fma(a, b, sum)); }

/// Even and odd inputs have sums of their own, which are added up at the end.
/// Source: Intel, Software Developer's Manual, TDPBF16PS.
void multiply_bfloat16(Tile& sums, const Tile& a, const Tile& b, const Instruction& given) {
  for (int row = 0; row < state.rows[given.reg]; ++row) {
    std::array<float, kColumns> even{}, odd{};
    for (int k = 0; k < state.row_bytes[given.rm] / 4; ++k) {
      const float first = widened(a.at<uint16_t>(row, 2 * k));
      const float second = widened(a.at<uint16_t>(row, 2 * k + 1));
      for (int column = 0; column < kColumns; ++column) {
        even[column] = add_product(even[column], first, widened(b.at<uint16_t>(k, 2 * column)));
        odd[column] = add_product(odd[column], second, widened(b.at<uint16_t>(k, 2 * column + 1)));
      }
    }
    for (int column = 0; column < kColumns; ++column) {
      const float both = flushed(even[column] + odd[column]);
      sums.set(row, column, flushed(flushed(sums.at<float>(row, column)) + both));
    }
  }
}

/// TDPBUSD: those of a have no sign.
void multiply_int8(Tile& sums, const Tile& a, const Tile& b, const Instruction& given) {
  for (int row = 0; row < state.rows[given.reg]; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      uint32_t sum = sums.at<uint32_t>(row, column);
      for (int k = 0; k < state.row_bytes[given.rm]; ++k) {
        const int product = a.at<uint8_t>(row, k) * b.at<int8_t>(k / 4, 4 * column + k % 4);
        sum += static_cast<uint32_t>(product);
      }
      sums.set(row, column, sum);
    }
  }
}

/// One of the eight that the configuration gives a size. (Palette 0 gives none.)
bool is_usable(int tile) { return tile < kTiles && state.rows[tile] > 0; }

/// The factors of a product: else it is an illegal instruction, as that of a tile that is not
/// usable. Source: Intel, Software Developer's Manual, Intel AMX Instruction Exception Classes.
bool fits(const Instruction& given) {
  const int sums = given.reg, a = given.rm, b = given.vvvv;
  if (!is_usable(sums) || !is_usable(a) || !is_usable(b)) return false;
  const auto is_of_whole_numbers = [](int tile) { return state.row_bytes[tile] % 4 == 0; };
  return sums != a && sums != b && a != b && state.rows[sums] == state.rows[a] &&
         state.row_bytes[a] == 4 * state.rows[b] && state.row_bytes[sums] == state.row_bytes[b] &&
         is_of_whole_numbers(sums) && is_of_whole_numbers(a) && is_of_whole_numbers(b);
}

enum Prefix : uint8_t { kNoPrefix, k66, kF3, kF2 };

/// What ModRM's last bits say where a SIB byte follows: an index is there.
constexpr int kSib = 4;

bool carry_out(const Instruction& given) {
  constexpr uint8_t kConfigure = 0x49, kMove = 0x4b, kBFloat16 = 0x5c, kInt8 = 0x5e;
  if (given.opcode == kConfigure && given.prefix == kNoPrefix) {
    if (given.has_memory) {
      configure(given);
    } else {
      state = State{};  // TILERELEASE
    }
    return true;
  }
  if (!is_usable(given.reg)) return false;
  Tile& to = state.tiles[given.reg];
  if (given.opcode == kConfigure && given.prefix == kF2 && !given.has_memory) {
    to = Tile{};  // TILEZERO
    return true;
  }
  if (given.opcode == kMove && given.has_memory && given.rm == kSib && given.vvvv == 0) {
    if (given.prefix == kF2) return load(given), true;
    return given.prefix == kF3 && (store(given), true);
  }
  if (given.has_memory || !fits(given)) return false;
  const Tile &a = state.tiles[given.rm], &b = state.tiles[given.vvvv];
  if (given.opcode == kBFloat16 && given.prefix == kF3) {
    return multiply_bfloat16(to, a, b, given), true;
  }
  if (given.opcode == kInt8 && given.prefix == k66) return multiply_int8(to, a, b, given), true;
  return false;
}

void on_illegal_instruction(int, siginfo_t*, void* where) {
  auto& context = *static_cast<ucontext_t*>(where);
  auto& place = context.uc_mcontext.gregs[REG_RIP];
  Instruction given{};
  const auto* const at =
      reinterpret_cast<const uint8_t*>(place);  // NOLINT(performance-no-int-to-ptr)
  if (decode(context, at, given) && carry_out(given)) {
    place = reinterpret_cast<greg_t>(given.end);
    return;
  }
  // Not ours: once more, and then to its end.
  signal(SIGILL, SIG_DFL);
}

}  // namespace

EmulatedTiles::EmulatedTiles() {
  struct sigaction ours = {};
  ours.sa_sigaction = on_illegal_instruction;
  ours.sa_flags = SA_SIGINFO;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGILL, &ours, &before_);
}

EmulatedTiles::~EmulatedTiles() { sigaction(SIGILL, &before_, nullptr); }

#else

EmulatedTiles::EmulatedTiles() : before_() {}
EmulatedTiles::~EmulatedTiles() = default;

#endif
