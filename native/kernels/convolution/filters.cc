#include <algorithm>
#include <array>

#include "convolution/filter_kernel.h"
#include "matmul/tiling.h"

namespace kernels {
namespace {

#if defined(__x86_64__)
constexpr const FilterKernel* kAll[] = {&kFiltersAvx512, &kFiltersAvx2, &kFiltersPortable};
#else
constexpr const FilterKernel* kAll[] = {&kFiltersPortable};
#endif

constexpr int64_t kMaxLanes = 16;
static_assert(kMaxLanes == kFilterSamples);

}  // namespace

const FilterKernel& best_filter_kernel() {
  static const FilterKernel& best = **std::ranges::find_if(kAll, is_usable, &FilterKernel::needs);
  return best;
}

Filters::Filters(const Weight& weight) : Filters(weight, best_filter_kernel()) {}

Filters::Filters(const Weight& weight, const FilterKernel& kernel)
    : kernel_(&kernel),
      taps_(weight.taps),
      weights_(static_cast<size_t>(weight.filters * weight.taps)),
      bias_(static_cast<size_t>(weight.filters)) {
  if (weight.bias != nullptr) std::copy_n(weight.bias, weight.filters, bias_.begin());
  // Blocks of equal size instead of full blocks and a small remainder.
  const int64_t count = ceil_divide(weight.filters, kernel.max_filters);
  float* to = weights_.data();
  for (int64_t block = 0; block < count; ++block) {
    const int64_t first = block * weight.filters / count;
    const int64_t filters = (block + 1) * weight.filters / count - first;
    blocks_.push_back({.first = first, .count = filters});
    for (int64_t tap = 0; tap < weight.taps; ++tap) {
      for (int64_t i = 0; i < filters; ++i) {
        *to++ = weight.values[(first + i) * weight.taps + tap];
      }
    }
  }
}

void Filters::apply(int64_t index, const FilteredSamples& samples) const {
  const Block& block = blocks_[static_cast<size_t>(index)];
  const int64_t lanes = kernel_->lanes;
  float* const y = samples.y + block.first * samples.y_stride;
  // Output of less than a vector, which is copied from here.
  alignas(64) std::array<float, kMaxFilters * kMaxLanes> scratch;
  const bool is_short = samples.length < lanes;
  FilterTile tile{.weights = weights_.data() + block.first * taps_,
                  .bias = bias_.data() + block.first,
                  .offsets = samples.offsets,
                  .taps = taps_,
                  .x = {},
                  .y = {},
                  .y_stride = is_short ? lanes : samples.y_stride,
                  .fuse_relu = samples.fuse_relu};
  const auto* const tiles = kernel_->tiles[block.count - 1];
  const int64_t most = kernel_->max_vectors(static_cast<int>(block.count));
  const int64_t vectors = ceil_divide(samples.length, lanes);
  const int64_t count = ceil_divide(vectors, most);
  for (int64_t part = 0; part < count; ++part) {
    const int64_t first = part * vectors / count, end = (part + 1) * vectors / count;
    for (int64_t vector = first; vector < end; ++vector) {
      // The last vector ends with the last sample: it computes some samples again.
      const int64_t start = std::max<int64_t>(0, std::min(vector * lanes, samples.length - lanes));
      tile.x[vector - first] = samples.x + start;
      tile.y[vector - first] = is_short ? scratch.data() : y + start;
    }
    tiles[end - first - 1](tile);
  }
  for (int64_t filter = 0; is_short && filter < block.count; ++filter) {
    std::copy_n(scratch.data() + filter * lanes, samples.length, y + filter * samples.y_stride);
  }
}

}  // namespace kernels
