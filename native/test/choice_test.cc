// Which kernel is chosen: the first that the processor has the instructions for; one that needs
// tiles only if its products are right.
#include "format/choice.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "emulated_tiles.h"
#include "supported_kernels.h"

namespace {

using gemm::choose;
using gemm::find_problem;
using gemm::Format;
using gemm::FormatDescription;
using gemm::Kernel;

constexpr const char* kProducts = "its products differ from the portable kernel's";

std::string problem_of(const Kernel& kernel, Format format) {
  const FormatDescription* const formats[] = {&gemm::description_of(format)};
  return find_problem(kernel, formats);
}

const Kernel& portable_of(Format format) { return *gemm::description_of(format).kernels.back(); }

#if defined(__x86_64__)
/// The kernels of tiles pass where tiles are, or are emulated from `begin` to `end`.
std::optional<EmulatedTiles> emulated;

class TileCheckOf : public testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(Formats, TileCheckOf,
                         testing::Values(Format::kInt8, Format::kBFloat16, Format::kBFloat16x3,
                                         Format::kBFloat16x6));

TEST_P(TileCheckOf, TilesAreRight) {
  const gemm::FormatKernel best = testable_kernels(GetParam()).back();
  if ((best.kernel->needs & gemm::kAmxTile) == 0) {
    GTEST_SKIP() << "needs more instructions than tiles that this processor lacks";
  }
  static const Kernel* tiles;
  tiles = best.kernel;
  Kernel kernel = *tiles;
  kernel.begin = [](int64_t rows) {
    emulated.emplace();
    tiles->begin(rows);
  };
  kernel.end = [] {
    tiles->end();
    emulated.reset();
  };
  EXPECT_EQ(problem_of(kernel, GetParam()), "");
}
#endif

/// As if the portable kernel's products came of tiles.
Kernel of_tiles(Format format, const char* name) {
  Kernel kernel = portable_of(format);
  kernel.name = name;
  kernel.needs |= gemm::kAmxTile;
  return kernel;
}

/// One number, in the last row of a tile, is wrong in the fourth decimal.
void wrong_tile(const gemm::Tile& tile) {
  portable_of(Format::kBFloat16x3).tiles[tile.rows - 1](tile);
  if (tile.rows == 3) tile.c[2 * tile.c_stride + 7] += 1e-3F;
}
constexpr gemm::TileFunction kWrongTiles[] = {wrong_tile, wrong_tile, wrong_tile, wrong_tile};

TEST(TileCheck, FindsAWrongProduct) {
  for (const Format format : {Format::kBFloat16x3, Format::kBFloat16x6}) {
    Kernel split = of_tiles(format, "made-up");
    EXPECT_EQ(problem_of(split, format), "");
    split.tiles = kWrongTiles;
    EXPECT_EQ(problem_of(split, format), kProducts);
  }

  Kernel rounded = of_tiles(Format::kBFloat16, "made-up");
  EXPECT_EQ(problem_of(rounded, Format::kBFloat16), "");
  rounded.round_rows = [](const gemm::RowsToRound& rows) {
    portable_of(Format::kBFloat16).round_rows(rows);
    static_cast<uint16_t*>(rows.to)[rows.count - 1] ^= 1;
  };
  EXPECT_EQ(problem_of(rounded, Format::kBFloat16), kProducts);

  Kernel integers = of_tiles(Format::kInt8, "made-up");
  EXPECT_EQ(problem_of(integers, Format::kInt8), "");
  integers.round_rows = [](const gemm::RowsToRound& rows) {
    portable_of(Format::kInt8).round_rows(rows);
    rows.scales[0].scale *= 1 + 1e-6F;
  };
  EXPECT_EQ(problem_of(integers, Format::kInt8), kProducts);
}

TEST(Choice, TakesTheFirstThatIsUsableAndRight) {
  Kernel wrong = of_tiles(Format::kBFloat16x3, "first");
  wrong.tiles = kWrongTiles;
  const Kernel right = of_tiles(Format::kBFloat16x3, "second");
  const Kernel& portable = portable_of(Format::kBFloat16x3);
  const gemm::Instructions usable = portable.needs | gemm::kAmxTile;
  const Kernel* const kernels[] = {&wrong, &right, &portable};
  FormatDescription description = gemm::description_of(Format::kBFloat16x3);
  description.kernels = kernels;
  const FormatDescription* const formats[] = {&description};

  const auto choice = choose(formats, usable);
  EXPECT_EQ(choice.kernel, &right);
  const std::vector<std::string> warnings{std::string("the first kernel is not used: ") +
                                          kProducts};
  EXPECT_EQ(choice.warnings, warnings);

  // What needs more than there is is never run, and nothing is wrong with that.
  const auto none = choose(formats, portable.needs);
  EXPECT_EQ(none.kernel, &portable);
  EXPECT_TRUE(none.warnings.empty());
}

}  // namespace
