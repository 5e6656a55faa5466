// Instruction sets of the processor, and the setting INSTRUCTION_SET that limits them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kernels {

/// Bit set of instruction set extensions.
using Instructions = uint32_t;

inline constexpr Instructions kSse3 = 1U << 0;
inline constexpr Instructions kSsse3 = 1U << 1;
inline constexpr Instructions kSse41 = 1U << 2;
inline constexpr Instructions kSse42 = 1U << 3;
inline constexpr Instructions kPopcnt = 1U << 4;
inline constexpr Instructions kXsave = 1U << 5;
inline constexpr Instructions kAvx = 1U << 6;
inline constexpr Instructions kF16c = 1U << 7;
inline constexpr Instructions kFma = 1U << 8;
inline constexpr Instructions kAvx2 = 1U << 9;
inline constexpr Instructions kAvx512f = 1U << 10;
inline constexpr Instructions kAvx512dq = 1U << 11;
inline constexpr Instructions kAvx512bw = 1U << 12;
inline constexpr Instructions kAvx512vl = 1U << 13;
inline constexpr Instructions kAvx512vnni = 1U << 14;
inline constexpr Instructions kAvx512bf16 = 1U << 15;

inline constexpr Instructions kAmxTile = 1U << 16;
inline constexpr Instructions kAmxInt8 = 1U << 17;
inline constexpr Instructions kAmxBf16 = 1U << 18;

inline constexpr Instructions kAllInstructions = (kAmxBf16 << 1) - 1;

/// Source of CPUID and XGETBV results; tests replace it.
class ProcessorQueries {
 public:
  virtual ~ProcessorQueries() = default;

  /// EAX, EBX, ECX, EDX.
  using Registers = std::array<uint32_t, 4>;
  virtual Registers cpuid(uint32_t leaf, uint32_t subleaf) const = 0;

  /// XGETBV(0): XCR0, the register states that the operating system saves. Called only if CPUID
  /// reports that XGETBV may be used.
  virtual uint64_t xcr0() const = 0;

  /// Requests the tile registers of AMX for this process, and returns true if Linux grants them.
  /// Called only if the processor has AMX.
  virtual bool request_tiles() const = 0;
};

/// Manufacturer according to CPUID.
enum class Vendor : uint8_t { kOther, kIntel, kAmd };

struct Processor {
  Vendor vendor = Vendor::kOther;

  /// Instructions that the processor has, whose registers the operating system saves, and that the
  /// setting INSTRUCTION_SET allows.
  Instructions usable = 0;

  /// CPUID reports AMX, but not the size of its tiles (leaf 0x1D), as on some virtual machines.
  /// oneDNN then configures tiles of size 0, and the process ends with SIGILL.
  bool is_amx_inconsistent = false;
};

/// Evaluates the results of `queries`. allowed: upper limit of Processor::usable.
Processor examine(const ProcessorQueries& queries, Instructions allowed = kAllInstructions);

/// This machine's processor, limited by the setting INSTRUCTION_SET; examined at the first call. No
/// instructions are usable on processors other than x86-64.
const Processor& this_processor();

/// True if this machine's processor, limited by INSTRUCTION_SET, has all of these instructions.
inline bool is_usable(Instructions instructions) {
  return (instructions & ~this_processor().usable) == 0;
}

/// This machine's processor without regard to the setting INSTRUCTION_SET.
Processor examine_all();

/// A value of the setting INSTRUCTION_SET.
struct InstructionLimit {
  const char* name;
  Instructions instructions;  ///< all instructions that may be used
};

/// All values in ascending order; each includes the instructions of the value before it. The first,
/// "portable", allows the baseline of the processor architecture. It is the only value on
/// processors other than x86-64.
std::span<const InstructionLimit> instruction_limits();

/// Value of the environment variable INSTRUCTION_SET, read at the first call; null if it is unset
/// or invalid, see limit_problem().
const InstructionLimit* chosen_limit();

/// Error message for an invalid value of INSTRUCTION_SET, or for a value that this machine does not
/// support; empty if the value is valid.
std::string limit_problem();

/// Names of the values that this machine supports, whatever INSTRUCTION_SET is set to.
std::vector<std::string> available_limits();

/// Name of the highest value that is included in `usable`.
const char* highest_limit(Instructions usable);

}  // namespace kernels
