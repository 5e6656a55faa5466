#include "kernels/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace kernels {
namespace {

using Registers = ProcessorQueries::Registers;

enum Register : uint8_t { kEax, kEbx, kEcx, kEdx };

/// CPUID leaves with feature flags.
enum Page : uint8_t { kLeaf1, kLeaf7, kLeaf7Subleaf1, kPages };

constexpr uint32_t kTileLeaf = 0x1d;
constexpr uint32_t kOsXsaveBit = 27;  // of leaf 1, ECX

/// Bits of XCR0: XMM and YMM state; in addition opmask and ZMM state.
constexpr uint64_t kAvxState = 0x6;
constexpr uint64_t kAvx512State = 0xe6;
/// In addition, configuration and data of the tiles of AMX.
constexpr uint64_t kAmxState = 0x600e6;

/// Conditions for instructions to be usable: a CPUID flag, other instructions and saved registers.
struct Rule {
  Instructions grants;
  Page page;
  Register source;
  uint32_t bit;
  Instructions required;
  uint64_t state;
};

/// Required instructions are listed before the instructions that require them. Source: Intel,
/// Software Developer's Manual, CPUID; the leaves 1 and 7 are identical on AMD processors.
constexpr Rule kRules[] = {
    {kSse3, kLeaf1, kEcx, 0, 0, 0},
    {kSsse3, kLeaf1, kEcx, 9, kSse3, 0},
    {kSse41, kLeaf1, kEcx, 19, kSsse3, 0},
    {kSse42, kLeaf1, kEcx, 20, kSse41, 0},
    {kPopcnt, kLeaf1, kEcx, 23, 0, 0},
    {kXsave, kLeaf1, kEcx, kOsXsaveBit, 0, 0},
    {kAvx, kLeaf1, kEcx, 28, kSse42 | kXsave, kAvxState},
    {kF16c, kLeaf1, kEcx, 29, kAvx, kAvxState},
    {kFma, kLeaf1, kEcx, 12, kAvx, kAvxState},
    {kAvx2, kLeaf7, kEbx, 5, kAvx, kAvxState},
    {kAvx512f, kLeaf7, kEbx, 16, kAvx2 | kFma | kF16c, kAvx512State},
    {kAvx512dq, kLeaf7, kEbx, 17, kAvx512f, kAvx512State},
    {kAvx512bw, kLeaf7, kEbx, 30, kAvx512f, kAvx512State},
    {kAvx512vl, kLeaf7, kEbx, 31, kAvx512f, kAvx512State},
    {kAvx512vnni, kLeaf7, kEcx, 11, kAvx512f, kAvx512State},
    {kAvx512bf16, kLeaf7Subleaf1, kEax, 5, kAvx512bw, kAvx512State},
    {kAmxTile, kLeaf7, kEdx, 24, kAvx512f, kAmxState},
    {kAmxInt8, kLeaf7, kEdx, 25, kAmxTile, kAmxState},
    {kAmxBf16, kLeaf7, kEdx, 22, kAmxTile, kAmxState},
};

bool has_bit(const Registers& registers, Register source, uint32_t bit) {
  return (registers[source] >> bit & 1) != 0;
}

/// AMX_BF16, AMX_TILE and AMX_INT8 in EDX of leaf 7.
constexpr uint32_t kAmxFlags = 1U << 22 | 1U << 24 | 1U << 25;

/// True if palette 1 (leaf 0x1D, subleaf 1) reports 8 tiles of 16 rows of 64 bytes, as every
/// processor with AMX does.
bool has_amx_tiles(const Registers& palette) {
  constexpr uint32_t kBytes = 8192, kTileBytes = 1024, kRowBytes = 64, kTiles = 8, kRows = 16;
  return palette[kEax] == (kTileBytes << 16 | kBytes) &&
         palette[kEbx] == (kTiles << 16 | kRowBytes) && (palette[kEcx] & 0xffff) == kRows;
}

/// Vendor from EBX, EDX and ECX of leaf 0, which spell "GenuineIntel" or "AuthenticAMD".
Vendor vendor_of(const Registers& leaf0) {
  constexpr uint32_t kGenu = 0x756e6547, kInei = 0x49656e69, kNtel = 0x6c65746e;
  constexpr uint32_t kAuth = 0x68747541, kEnti = 0x69746e65, kCamd = 0x444d4163;
  const auto is = [&](uint32_t ebx, uint32_t edx, uint32_t ecx) {
    return leaf0[kEbx] == ebx && leaf0[kEdx] == edx && leaf0[kEcx] == ecx;
  };
  if (is(kGenu, kInei, kNtel)) return Vendor::kIntel;
  return is(kAuth, kEnti, kCamd) ? Vendor::kAmd : Vendor::kOther;
}

}  // namespace

Processor examine(const ProcessorQueries& queries, Instructions allowed) {
  const Registers leaf0 = queries.cpuid(0, 0);
  const uint32_t highest_leaf = leaf0[kEax];
  // CPUID of a leaf above the highest returns the data of the highest leaf, not zeros.
  std::array<Registers, kPages> pages{};
  if (highest_leaf >= 1) pages[kLeaf1] = queries.cpuid(1, 0);
  if (highest_leaf >= 7) pages[kLeaf7] = queries.cpuid(7, 0);
  if (pages[kLeaf7][kEax] >= 1) pages[kLeaf7Subleaf1] = queries.cpuid(7, 1);
  const uint64_t state = has_bit(pages[kLeaf1], kEcx, kOsXsaveBit) ? queries.xcr0() : 0;

  Processor result{.vendor = vendor_of(leaf0)};
  for (const Rule& rule : kRules) {
    const bool has_flag = has_bit(pages[rule.page], rule.source, rule.bit);
    if (has_flag && (rule.grants & ~allowed) == 0 && (rule.required & ~result.usable) == 0 &&
        (rule.state & ~state) == 0) {
      result.usable |= rule.grants;
    }
  }
  result.is_amx_inconsistent =
      (pages[kLeaf7][kEdx] & kAmxFlags) != 0 &&
      (highest_leaf < kTileLeaf || queries.cpuid(kTileLeaf, 0)[kEax] == 0 ||  // no palette
       !has_amx_tiles(queries.cpuid(kTileLeaf, 1)));
  const bool has_tiles = (result.usable & kAmxTile) != 0;
  if (has_tiles && (result.is_amx_inconsistent || !queries.request_tiles())) {
    result.usable &= ~(kAmxTile | kAmxInt8 | kAmxBf16);
  }
  return result;
}

#if defined(__x86_64__)

namespace {

class OwnQueries final : public ProcessorQueries {
 public:
  Registers cpuid(uint32_t leaf, uint32_t subleaf) const override {
    Registers result;
    __cpuid_count(leaf, subleaf, result[kEax], result[kEbx], result[kEcx], result[kEdx]);
    return result;
  }

  uint64_t xcr0() const override {
    uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t{high} << 32 | low;
  }

  /// Source: Linux, Documentation/arch/x86/xstate.rst.
  bool request_tiles() const override {
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }
};

}  // namespace

Processor examine_all() { return examine(OwnQueries()); }

const Processor& this_processor() {
  static const Processor processor = [] {
    const InstructionLimit* const limit = chosen_limit();
    return examine(OwnQueries(), limit != nullptr ? limit->instructions : kAllInstructions);
  }();
  return processor;
}

#else

Processor examine_all() { return {}; }

const Processor& this_processor() {
  static const Processor processor;
  return processor;
}

#endif

}  // namespace kernels
