// What a processor refuses of AMX, the emulator refuses, too: else kernels that pass here would end
// the process there. On a processor that has AMX the same tests ask the processor itself.
#include "emulated_tiles.h"

#include <gtest/gtest.h>

#if defined(__x86_64__)

#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "format/amx.h"
#include "gemm/processor.h"

namespace {

using gemm::TileConfiguration;

/// As the kernels have it: every tile 16 rows of 64 bytes.
TileConfiguration usual() {
  TileConfiguration all{};
  all.palette = 1;
  for (int tile = 0; tile < 8; ++tile) {
    all.rows[tile] = 16;
    all.row_bytes[tile] = 64;
  }
  return all;
}

void configure(const TileConfiguration& configuration) {
  asm volatile("ldtilecfg %0" : : "m"(configuration) : "memory");
}

/// What is done to memory by tiles that are in use.
struct Numbers {
  alignas(64) uint8_t bytes[16 * 64]{};
};

class EmulatedTilesTest : public testing::Test {
 protected:
  EmulatedTilesTest() {
    GTEST_FLAG_SET(death_test_style, "fast");
    (void)gemm::this_processor();  // asks the system for tiles, where the processor has them
  }

  /// In a process of its own, without a handler of a sanitizer's.
  template <class Call>
  static void on_its_own(const Call& call) {
    std::signal(SIGSEGV, SIG_DFL);
    const EmulatedTiles tiles;
    call();
    std::_Exit(0);
  }

  template <class Call>
  static void expect_fine(const Call& call) {
    EXPECT_EXIT(on_its_own(call), testing::ExitedWithCode(0), "");
  }
  /// #GP
  template <class Call>
  static void expect_protection_fault(const Call& call) {
    EXPECT_EXIT(on_its_own(call), testing::KilledBySignal(SIGSEGV), "");
  }
  /// #UD
  template <class Call>
  static void expect_illegal_instruction(const Call& call) {
    EXPECT_EXIT(on_its_own(call), testing::KilledBySignal(SIGILL), "");
  }
};

struct Configured {
  std::string what;
  TileConfiguration configuration;
};

template <class Change>
Configured with(std::string what, const Change& change) {
  Configured changed{.what = std::move(what), .configuration = usual()};
  change(changed.configuration);
  return changed;
}

TEST_F(EmulatedTilesTest, TakesWhatAProcessorTakes) {
  const std::vector<Configured> all{
      with("as usual", [](auto&) {}),
      with("a tile that is not used", [](auto& c) { c.rows[3] = 0, c.row_bytes[3] = 0; }),
      with("one row of four bytes", [](auto& c) { c.rows[0] = 1, c.row_bytes[0] = 4; }),
      // Palette 0 is none: all else is ignored.
      with("palette 0", [](auto& c) { c.palette = 0, c.rows[0] = 0; }),
  };
  for (const Configured& one : all) {
    SCOPED_TRACE(one.what);
    expect_fine([&] { configure(one.configuration); });
  }
}

TEST_F(EmulatedTilesTest, RefusesConfigurationsThatAProcessorRefuses) {
  const std::vector<Configured> all{
      with("palette 2", [](auto& c) { c.palette = 2; }),
      with("a reserved byte", [](auto& c) { c.reserved[0] = 1; }),
      with("17 rows", [](auto& c) { c.rows[7] = 17; }),
      with("65 bytes", [](auto& c) { c.row_bytes[7] = 65; }),
      with("bytes without rows", [](auto& c) { c.rows[2] = 0; }),
      with("rows without bytes", [](auto& c) { c.row_bytes[2] = 0; }),
      with("a ninth tile's rows", [](auto& c) { c.rows[8] = 1; }),
      with("a ninth tile's bytes", [](auto& c) { c.row_bytes[8] = 4; }),
  };
  for (const Configured& one : all) {
    SCOPED_TRACE(one.what);
    expect_protection_fault([&] { configure(one.configuration); });
  }
}

TEST_F(EmulatedTilesTest, RefusesTilesThatAreNotConfigured) {
  Numbers numbers;
  expect_illegal_instruction([] { gemm::zero_tile<0>(); });
  expect_illegal_instruction([&] { gemm::load_tile<0>(numbers.bytes, 64); });
  expect_illegal_instruction([&] { gemm::store_tile<0>(numbers.bytes, 64); });
  expect_illegal_instruction([] {
    configure(usual());
    gemm::end_tiles();
    gemm::zero_tile<0>();
  });
  TileConfiguration some = usual();
  some.rows[1] = 0;
  some.row_bytes[1] = 0;
  expect_fine([&] {
    configure(some);
    gemm::zero_tile<0>();
  });
  expect_illegal_instruction([&] {
    configure(some);
    gemm::zero_tile<1>();
  });
}

/// sums [rows, columns] of a [rows, inputs] and b [inputs, columns], four bytes each.
TEST_F(EmulatedTilesTest, RefusesProductsOfTilesThatDoNotFit) {
  const auto multiply = [](const TileConfiguration& configuration) {
    return [configuration] {
      configure(configuration);
      gemm::multiply_bfloat16<0, 1, 2>();
      gemm::multiply_int8<0, 1, 2>();
    };
  };
  expect_fine(multiply(usual()));
  TileConfiguration small = usual();  // 3 rows of 5 inputs, 7 columns
  small.rows[0] = 3, small.row_bytes[0] = 28;
  small.rows[1] = 3, small.row_bytes[1] = 20;
  small.rows[2] = 5, small.row_bytes[2] = 28;
  expect_fine(multiply(small));
  for (const int tile : {0, 1, 2}) {
    SCOPED_TRACE(tile);
    TileConfiguration other = small;
    ++other.rows[tile];
    expect_illegal_instruction(multiply(other));
    other = small;
    other.row_bytes[tile] += 4;
    expect_illegal_instruction(multiply(other));
    other.row_bytes[tile] -= 2;  // not of whole numbers
    expect_illegal_instruction(multiply(other));
    other.rows[tile] = 0;
    other.row_bytes[tile] = 0;
    expect_illegal_instruction(multiply(other));
  }
  // Of a tile with itself: assemblers refuse to write it.
  expect_illegal_instruction([] {
    configure(usual());
    asm volatile(".byte 0xc4, 0xe2, 0x72, 0x5c, 0xc1");  // tdpbf16ps of 1 and 1 to 0
  });
  expect_illegal_instruction([] {
    configure(usual());
    asm volatile(".byte 0xc4, 0xe2, 0x69, 0x5e, 0xc0");  // tdpbusd of 0 and 2 to 0
  });
}

}  // namespace

#endif
