// Which kernel is chosen: the first that the processor has the instructions for; one that needs
// tiles only if its products are right.
#include "choice.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "emulated_tiles.h"
#include "supported_kernels.h"

namespace {

using gemm::choose;
using gemm::find_problem;

constexpr const char* kProducts = "its products differ from the portable kernel's";

#if defined(__x86_64__)
/// The kernels of tiles pass where tiles are, or are emulated from `begin` to `end`.
std::optional<EmulatedTiles> emulated;

template <const auto* kKernel, class AnyKernel>
void expect_right(const std::vector<const AnyKernel*>& testable) {
  if (testable.back() != kKernel) {
    GTEST_SKIP() << "needs more instructions than tiles that this processor lacks";
  }
  AnyKernel kernel = *kKernel;
  kernel.begin = [](int64_t rows) {
    emulated.emplace();
    kKernel->begin(rows);
  };
  kernel.end = [] {
    kKernel->end();
    emulated.reset();
  };
  EXPECT_EQ(find_problem(kernel), "");
}

TEST(TileCheck, Int8IsRight) { expect_right<&gemm::kInt8AmxKernel>(testable_int8_kernels()); }
TEST(TileCheck, BFloat16IsRight) {
  expect_right<&gemm::kBFloat16AmxKernel>(testable_bfloat16_kernels());
}
TEST(TileCheck, SplitNumbersAreRight) {
  expect_right<&gemm::kSplitAmxKernel>(testable_split_kernels());
}
#endif

/// As if the portable kernel's products came of tiles.
template <class AnyKernel>
AnyKernel of_tiles(AnyKernel kernel, const char* name) {
  kernel.name = name;
  kernel.needs |= gemm::kAmxTile;
  return kernel;
}

/// One number, in the last row of a tile, is wrong in the fourth decimal.
void wrong_tile(const gemm::SplitTile& tile) {
  gemm::kPortableSplitKernel.compute(tile);
  if (tile.rows == 3) tile.c[2 * tile.c_stride + 7] += 1e-3F;
}

TEST(TileCheck, FindsAWrongProduct) {
  gemm::SplitKernel split = of_tiles(gemm::kPortableSplitKernel, "made-up");
  EXPECT_EQ(find_problem(split), "");
  split.compute = wrong_tile;
  EXPECT_EQ(find_problem(split), kProducts);

  gemm::BFloat16Kernel rounded = of_tiles(gemm::kPortableBFloat16Kernel, "made-up");
  EXPECT_EQ(find_problem(rounded), "");
  rounded.round = [](const float* from, uint16_t* to, int64_t count) {
    gemm::kPortableBFloat16Kernel.round(from, to, count);
    to[count - 1] ^= 1;
  };
  EXPECT_EQ(find_problem(rounded), kProducts);

  gemm::Int8Kernel integers = of_tiles(gemm::kPortableInt8Kernel, "made-up");
  EXPECT_EQ(find_problem(integers), "");
  integers.quantize = [](const float* from, uint8_t* to, int64_t count) {
    gemm::RowScale scale = gemm::kPortableInt8Kernel.quantize(from, to, count);
    scale.scale *= 1 + 1e-6F;
    return scale;
  };
  EXPECT_EQ(find_problem(integers), kProducts);
}

TEST(Choice, TakesTheFirstThatIsUsableAndRight) {
  gemm::SplitKernel wrong = of_tiles(gemm::kPortableSplitKernel, "first");
  wrong.compute = wrong_tile;
  const gemm::SplitKernel right = of_tiles(gemm::kPortableSplitKernel, "second");
  const auto& portable = gemm::kPortableSplitKernel;
  const gemm::Instructions usable = portable.needs | gemm::kAmxTile;

  const auto choice = choose<gemm::SplitKernel>({&wrong, &right}, portable, usable);
  EXPECT_EQ(choice.kernel, &right);
  const std::vector<std::string> warnings{std::string("the first kernel is not used: ") +
                                          kProducts};
  EXPECT_EQ(choice.warnings, warnings);

  // What needs more than there is is never run, and nothing is wrong with that.
  const auto none = choose<gemm::SplitKernel>({&wrong, &right}, portable, portable.needs);
  EXPECT_EQ(none.kernel, &portable);
  EXPECT_TRUE(none.warnings.empty());
}

}  // namespace
