// Convolution filters: each kernel compared with sums in float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convolution/filter_kernel.h"
#include "kernels/cpu.h"
#include "random_floats.h"

namespace {

using kernels::FilterKernel;
using kernels::Filters;

std::vector<const FilterKernel*> supported_filter_kernels() {
  std::vector<const FilterKernel*> supported{&kernels::kFiltersPortable};
#if defined(__x86_64__)
  for (const auto* each : {&kernels::kFiltersAvx2, &kernels::kFiltersAvx512}) {
    if (kernels::is_usable(each->needs)) supported.push_back(each);
  }
#endif
  return supported;
}

class FiltersTest : public testing::TestWithParam<const FilterKernel*> {};

/// Filters whose taps read every second sample.
struct Example {
  int64_t filters, taps, length;
  std::vector<float> weight = random_floats(static_cast<size_t>(filters * taps), 1);
  std::vector<float> bias = random_floats(static_cast<size_t>(filters), 2);
  std::vector<float> x =
      random_floats(static_cast<size_t>(2 * taps + length + kernels::kFilterSamples), 3);
  std::vector<int64_t> offsets = [this] {
    std::vector<int64_t> offsets;
    offsets.reserve(static_cast<size_t>(taps));
    for (int64_t tap = 0; tap < taps; ++tap) offsets.push_back(2 * tap);
    return offsets;
  }();

  /// Outputs with one more value after each row, which must not change.
  std::vector<float> by(const FilterKernel& kernel, bool fuse_relu, int64_t count) const {
    const Filters filters_of_kernel(
        {.values = weight.data(), .bias = bias.data(), .filters = filters, .taps = taps}, kernel);
    std::vector<float> y(static_cast<size_t>(filters * (count + 1)), -7.0F);
    for (int64_t block = 0; block < filters_of_kernel.blocks(); ++block) {
      filters_of_kernel.apply(block, {.x = x.data(),
                                      .offsets = offsets.data(),
                                      .length = count,
                                      .y = y.data(),
                                      .y_stride = count + 1,
                                      .fuse_relu = fuse_relu});
    }
    return y;
  }

  double expected(int64_t filter, int64_t sample) const {
    double sum = bias[static_cast<size_t>(filter)];
    for (int64_t tap = 0; tap < taps; ++tap) {
      sum += static_cast<double>(weight[static_cast<size_t>(filter * taps + tap)]) *
             x[static_cast<size_t>(2 * tap + sample)];
    }
    return sum;
  }
};

TEST_P(FiltersTest, SumsProducts) {
  for (const int64_t filters : {1, 2, 3, 5, 8, 9, 25}) {
    for (const int64_t length : {1, 3, 4, 7, 15, 16, 17, 50, 97, 200}) {
      const Example example{.filters = filters, .taps = 13, .length = length};
      for (const bool fuse_relu : {false, true}) {
        const std::vector<float> y = example.by(*GetParam(), fuse_relu, length);
        for (int64_t filter = 0; filter < filters; ++filter) {
          const float* const row = y.data() + filter * (length + 1);
          for (int64_t i = 0; i < length; ++i) {
            const double sum = example.expected(filter, i);
            ASSERT_NEAR(row[i], fuse_relu ? std::max(sum, 0.0) : sum, 1e-4)
                << filters << " filters, sample " << i << " of " << length;
          }
          ASSERT_EQ(row[length], -7.0F);
        }
      }
    }
  }
}

TEST_P(FiltersTest, ASampleHasTheSameBitsInAnyLength) {
  const Example example{.filters = 11, .taps = 40, .length = 150};
  const std::vector<float> all = example.by(*GetParam(), false, 150);
  for (const int64_t length : {1, 5, 16, 33, 149}) {
    const std::vector<float> some = example.by(*GetParam(), false, length);
    for (int64_t filter = 0; filter < example.filters; ++filter) {
      for (int64_t i = 0; i < length; ++i) {
        ASSERT_EQ(some[static_cast<size_t>(filter * (length + 1) + i)],
                  all[static_cast<size_t>(filter * 151 + i)]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfEachKernel, FiltersTest, testing::ValuesIn(supported_filter_kernels()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
