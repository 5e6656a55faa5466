// Kernels that are wrong, or cannot run, are not chosen.
#include "trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "choice.h"
#include "emulated_tiles.h"
#include "no_instruction.h"
#include "supported_kernels.h"

namespace {

using gemm::BFloat16Kernel;
using gemm::choose;
using gemm::find_problem;
using gemm::Int8Kernel;
using gemm::Kernel;
using gemm::SplitKernel;

constexpr auto kRows = static_cast<size_t>(6);
constexpr const char* kIllegal = "it ended in an illegal instruction";
constexpr const char* kProducts = "its products differ from the portable kernel's";

/// The portable kernel's tile of so many rows; then one number, in the last row and lane, is wrong
/// in the fifth decimal.
template <gemm::Storage kStorage, size_t kTileRows>
void wrong_tile(const gemm::Tile& tile) {
  gemm::kPortableKernel.tiles(kStorage)[kTileRows - 1](tile);
  tile.c[static_cast<int64_t>(kTileRows - 1) * tile.c_stride + 7] += 1e-4F;
}

void illegal_tile(const gemm::Tile&) { run_no_instruction(); }

/// The portable tiles, one of them another function.
using Tiles = std::array<gemm::TileFunction, kRows>;
Tiles replace(gemm::Storage storage, size_t rows, gemm::TileFunction by) {
  Tiles tiles;
  std::copy_n(gemm::kPortableKernel.tiles(storage), kRows, tiles.begin());
  tiles[rows - 1] = by;
  return tiles;
}

Kernel with_tiles(gemm::Storage storage, const Tiles& tiles) {
  Kernel kernel = gemm::kPortableKernel;
  kernel.name = "made-up";
  if (storage == gemm::Storage::kFloat32) kernel.float32_tiles = tiles.data();
  if (storage == gemm::Storage::kFloat16) kernel.float16_tiles = tiles.data();
  if (storage == gemm::Storage::kBFloat16) kernel.bfloat16_tiles = tiles.data();
  return kernel;
}

template <gemm::Storage kStorage, size_t... kIndex>
void expect_found(std::index_sequence<kIndex...>) {
  const auto expect_one = [](size_t rows, gemm::TileFunction wrong) {
    const Tiles tiles = replace(kStorage, rows, wrong);
    EXPECT_EQ(find_problem(with_tiles(kStorage, tiles)), kProducts) << rows << " rows";
    const Tiles illegal = replace(kStorage, rows, illegal_tile);
    EXPECT_EQ(find_problem(with_tiles(kStorage, illegal)), kIllegal) << rows << " rows";
  };
  (expect_one(kIndex + 1, wrong_tile<kStorage, kIndex + 1>), ...);
}

TEST(Trial, EveryKernelOfThisProcessorPasses) {
  for (const auto* kernel : supported_kernels()) EXPECT_EQ(find_problem(*kernel), "");
  for (const auto* kernel : supported_int8_kernels()) EXPECT_EQ(find_problem(*kernel), "");
  for (const auto* kernel : supported_bfloat16_kernels()) EXPECT_EQ(find_problem(*kernel), "");
}

#if defined(__x86_64__)
/// The tiles are there from `begin` to `end` alone, whatever the processor has.
std::optional<EmulatedTiles> emulated;

template <class AnyKernel, const AnyKernel* kKernel>
AnyKernel with_emulation() {
  AnyKernel kernel = *kKernel;
  kernel.begin = [](int64_t rows) {
    emulated.emplace();
    kKernel->begin(rows);
  };
  kernel.end = [] {
    kKernel->end();
    emulated.reset();
  };
  return kernel;
}

/// AMX passes where it is, or is emulated; where it is not, it ends in the trap and not in the
/// process's end.
template <class AnyKernel, const AnyKernel* kKernel>
void expect_tried(const std::vector<const AnyKernel*>& testable,
                  const std::vector<const AnyKernel*>& supported) {
  if (std::ranges::find(testable, kKernel) == testable.end()) {
    GTEST_SKIP() << "needs more instructions than tiles that this processor lacks";
  }
  EXPECT_EQ(find_problem(with_emulation<AnyKernel, kKernel>()), "");
  const bool is_there = std::ranges::find(supported, kKernel) != supported.end();
  EXPECT_EQ(find_problem(*kKernel), is_there ? "" : kIllegal);
}

TEST(Trial, TriesTilesInInt8) {
  expect_tried<Int8Kernel, &gemm::kInt8AmxKernel>(testable_int8_kernels(),
                                                  supported_int8_kernels());
}

TEST(Trial, TriesTilesInBFloat16) {
  expect_tried<BFloat16Kernel, &gemm::kBFloat16AmxKernel>(testable_bfloat16_kernels(),
                                                          supported_bfloat16_kernels());
}

TEST(Trial, TriesTilesOfSplitNumbers) {
  expect_tried<SplitKernel, &gemm::kSplitAmxKernel>(testable_split_kernels(),
                                                    supported_split_kernels());
}
#endif

/// Of every number of rows and every type of stored weights.
TEST(Trial, FindsAWrongOrIllegalTile) {
  constexpr std::make_index_sequence<kRows> kEach;
  ASSERT_EQ(gemm::kPortableKernel.tile_rows, static_cast<int>(kRows));
  expect_found<gemm::Storage::kFloat32>(kEach);
  expect_found<gemm::Storage::kFloat16>(kEach);
  expect_found<gemm::Storage::kBFloat16>(kEach);
}

TEST(Trial, FindsWhatElseAKernelDoesWrong) {
  Kernel kernel = gemm::kPortableKernel;
  kernel.gelu = [](float* values, int64_t rows, int64_t columns, int64_t stride) {
    gemm::kPortableKernel.gelu(values, rows, columns, stride);
    values[columns - 1] += 1e-4F;
  };
  EXPECT_EQ(find_problem(kernel), "its values of GELU differ from the portable kernel's");
  kernel.gelu = [](float*, int64_t, int64_t, int64_t) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);

  kernel = gemm::kPortableKernel;
  kernel.exponentials = [](float* scores, int64_t rows, int64_t stride, int64_t count,
                           float* sums) {
    gemm::kPortableKernel.exponentials(scores, rows, stride, count, sums);
    sums[rows - 1] *= 1.0001F;
  };
  EXPECT_EQ(find_problem(kernel), "its exponentials differ from the portable kernel's");
  kernel.exponentials = [](float* scores, int64_t rows, int64_t stride, int64_t count,
                           float* sums) {
    gemm::kPortableKernel.exponentials(scores, rows, stride, count, sums);
    scores[count - 1] *= 1.0001F;
  };
  EXPECT_EQ(find_problem(kernel), "its exponentials differ from the portable kernel's");
  kernel.exponentials = [](float*, int64_t, int64_t, int64_t, float*) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);

  kernel = gemm::kPortableKernel;
  kernel.pack_keys = [](const gemm::AttentionHead& head, float* panels) {
    gemm::kPortableKernel.pack_keys(head, panels);
    panels[1] = panels[0];
  };
  EXPECT_EQ(find_problem(kernel), "its panels of keys and values are wrong");
  kernel = gemm::kPortableKernel;
  kernel.pack_values = [](const gemm::AttentionHead&, float*) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);

  kernel = gemm::kPortableKernel;
  kernel.normalize = [](const gemm::LayerNormRows& rows) {
    gemm::kPortableKernel.normalize(rows);
    if (rows.bias != nullptr && rows.residual == nullptr) rows.y[rows.size - 1] += 1e-3F;
  };
  EXPECT_EQ(find_problem(kernel), "its normalized rows differ from the portable kernel's");
  kernel.normalize = [](const gemm::LayerNormRows&) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);
}

TEST(Trial, FindsAWrongInt8Kernel) {
  static constexpr gemm::Int8TileFunction kWrong = [](const gemm::Int8Tile& tile) {
    gemm::kPortableInt8Kernel.tiles[2](tile);
    tile.c[2 * tile.c_stride + 3] *= 1 + 1e-6F;
  };
  Int8Kernel kernel = gemm::kPortableInt8Kernel;
  std::array<gemm::Int8TileFunction, 4> tiles;
  std::copy_n(kernel.tiles, tiles.size(), tiles.begin());
  kernel.tiles = tiles.data();
  EXPECT_EQ(find_problem(kernel), "");
  tiles[2] = kWrong;
  EXPECT_EQ(find_problem(kernel), kProducts);
  tiles[2] = [](const gemm::Int8Tile&) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);

  kernel = gemm::kPortableInt8Kernel;
  kernel.quantize = [](const float* from, uint8_t* to, int64_t count) {
    const gemm::RowScale scale = gemm::kPortableInt8Kernel.quantize(from, to, count);
    to[count - 1] ^= 1;
    return scale;
  };
  EXPECT_EQ(find_problem(kernel), "its quantized rows differ from the portable kernel's");
  kernel.quantize = [](const float*, uint8_t*, int64_t) {
    run_no_instruction();
    return gemm::RowScale{};
  };
  EXPECT_EQ(find_problem(kernel), kIllegal);
}

TEST(Trial, FindsAWrongBFloat16Kernel) {
  BFloat16Kernel kernel = gemm::kPortableBFloat16Kernel;
  std::array<gemm::BFloat16TileFunction, 4> tiles;
  std::copy_n(kernel.tiles, tiles.size(), tiles.begin());
  kernel.tiles = tiles.data();
  EXPECT_EQ(find_problem(kernel), "");
  tiles[3] = [](const gemm::BFloat16Tile& tile) {
    gemm::kPortableBFloat16Kernel.tiles[3](tile);
    tile.c[3 * tile.c_stride] += 1e-4F;
  };
  EXPECT_EQ(find_problem(kernel), kProducts);
  tiles[3] = [](const gemm::BFloat16Tile&) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);

  kernel = gemm::kPortableBFloat16Kernel;
  kernel.round = [](const float* from, uint16_t* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {  // cuts off
      to[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(from[i]) >> 16);
    }
  };
  EXPECT_EQ(find_problem(kernel), "its rounded numbers differ from the portable kernel's");
  kernel.round = [](const float*, uint16_t*, int64_t) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);

  kernel = gemm::kPortableBFloat16Kernel;
  kernel.round_panel = [](const float* from, int64_t inputs, int64_t filled, uint16_t* to) {
    gemm::kPortableBFloat16Kernel.round_panel(from, inputs, filled, to);
    if (filled > inputs) to[filled * gemm::kPortableBFloat16Kernel.panel_width - 1] = 1;
  };
  EXPECT_EQ(find_problem(kernel), "its rounded panels differ from the portable kernel's");
  kernel.round_panel = [](const float*, int64_t, int64_t, uint16_t*) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);
}

TEST(Trial, FindsAWrongSplitKernel) {
  SplitKernel kernel = gemm::kPortableSplitKernel;
  EXPECT_EQ(find_problem(kernel), "");
  kernel.compute = [](const gemm::SplitTile& tile) {
    gemm::kPortableSplitKernel.compute(tile);
    if (tile.panel_parts == 2) tile.c[(tile.rows - 1) * tile.c_stride] += 1e-4F;
  };
  EXPECT_EQ(find_problem(kernel), kProducts);
  kernel.compute = [](const gemm::SplitTile&) { run_no_instruction(); };
  EXPECT_EQ(find_problem(kernel), kIllegal);

  kernel = gemm::kPortableSplitKernel;
  kernel.split_panel = [](const gemm::StoredPanel& panel) {
    gemm::kPortableSplitKernel.split_panel(panel);
    panel.to[0] ^= 0x10;
  };
  EXPECT_EQ(find_problem(kernel), kProducts);

  kernel = gemm::kPortableSplitKernel;
  kernel.split = [](const float* from, int64_t count, gemm::Parts parts, uint16_t* to,
                    int64_t part_size) {
    gemm::kPortableSplitKernel.split(from, count, parts, to, part_size);
    to[part_size + count - 1] ^= 1;
  };
  EXPECT_EQ(find_problem(kernel), "its split numbers differ from the portable kernel's");
}

TEST(Choice, TakesTheFirstThatIsUsableAndPasses) {
  const Tiles illegal = replace(gemm::Storage::kFloat32, 3, illegal_tile);
  const Tiles wrong = replace(gemm::Storage::kFloat32, 6, wrong_tile<gemm::Storage::kFloat32, 6>);
  Kernel first = with_tiles(gemm::Storage::kFloat32, illegal);
  Kernel second = with_tiles(gemm::Storage::kFloat32, wrong);
  Kernel third = gemm::kPortableKernel, fourth = gemm::kPortableKernel;
  first.name = "first";
  second.name = "second";
  const gemm::Instructions usable = gemm::kPortableKernel.needs | gemm::kAvx2;

  const auto choice =
      choose<Kernel>({&first, &second, &third, &fourth}, gemm::kPortableKernel, usable);
  EXPECT_EQ(choice.kernel, &third);
  const std::vector<std::string> warnings{
      "the first kernel is not used: it ended in an illegal instruction",
      "the second kernel is not used: its products differ from the portable kernel's"};
  EXPECT_EQ(choice.warnings, warnings);

  // What needs more than there is is not tried, and nothing is wrong with that.
  third.needs |= gemm::kAvx2 | gemm::kAvx512f;
  const auto other = choose<Kernel>({&third, &fourth}, gemm::kPortableKernel, usable);
  EXPECT_EQ(other.kernel, &fourth);
  EXPECT_TRUE(other.warnings.empty());

  const auto last = choose<Kernel>({&first, &third}, gemm::kPortableKernel, usable);
  EXPECT_EQ(last.kernel, &gemm::kPortableKernel);
  EXPECT_EQ(last.warnings.size(), 1U);
}

}  // namespace
