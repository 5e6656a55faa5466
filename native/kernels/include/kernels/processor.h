// Which instructions may be used here: the processor must have them, and the operating system must
// keep their registers.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/instructions.h"

namespace kernels {

/// Where the answers come from; tests make them up.
class ProcessorQueries {
 public:
  virtual ~ProcessorQueries() = default;

  /// EAX, EBX, ECX, EDX.
  using Answer = std::array<uint32_t, 4>;
  virtual Answer cpuid(uint32_t leaf, uint32_t subleaf) const = 0;

  /// XGETBV(0), XCR0: whose registers are kept when threads change. Itself an instruction that is
  /// asked for only where CPUID says that the operating system allows it.
  virtual uint64_t xcr0() const = 0;
};

/// Who makes it, as CPUID says.
enum class Vendor : uint8_t { kOther, kIntel, kAmd };

struct Processor {
  Vendor vendor = Vendor::kOther;

  Instructions usable = 0;

  /// CPUID has flags of AMX, but not the size of its tiles (leaf 0x1D): so on some virtual
  /// machines. oneDNN then configures tiles of size 0, and the process ends with SIGILL.
  bool is_amx_inconsistent = false;
};

/// Decided from the answers alone, among the instructions that are allowed.
Processor examine(const ProcessorQueries& queries, Instructions allowed = kAllInstructions);

/// The one that this runs on, and what the setting INSTRUCTIONS allows of it (instruction_limit.h);
/// examined at the first call. Without any such instructions on others than x86-64.
const Processor& this_processor();

/// The same without regard to the setting, examined anew.
Processor examine_all();

}  // namespace kernels
