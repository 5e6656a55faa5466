// Kernels of convolution filters, one for each instruction set.
#pragma once

#include <cstdint>

#include "kernels/convolution.h"
#include "kernels/cpu.h"

namespace kernels {

/// Limits of a tile, for all kernels.
constexpr int kMaxFilters = 8, kMaxVectors = 6;

/// Some filters over some vectors of output samples. The sums stay in registers.
struct FilterTile {
  const float* weights;    ///< [taps, filters]
  const float* bias;       ///< [filters]
  const int64_t* offsets;  ///< [taps]
  int64_t taps;
  const float* x[kMaxVectors];  ///< samples of each vector at offset 0
  float* y[kMaxVectors];        ///< output of each vector and the first filter
  int64_t y_stride;             ///< from filter to filter
  bool fuse_relu;
};

using FilterFunction = void (*)(const FilterTile& tile);

struct FilterKernel {
  const char* name;
  Instructions needs;
  int lanes;                                       ///< samples per vector
  int max_filters;                                 ///< of a tile
  int max_sums;                                    ///< vectors of sums of a tile
  FilterFunction tiles[kMaxFilters][kMaxVectors];  ///< for 1 … filters and 1 … vectors

  /// Vectors of a tile of `filters` filters.
  int max_vectors(int filters) const {
    const int vectors = max_sums / filters;
    return vectors < kMaxVectors ? vectors : kMaxVectors;
  }
};

extern const FilterKernel kFiltersPortable;
#if defined(__x86_64__)
extern const FilterKernel kFiltersAvx2;
extern const FilterKernel kFiltersAvx512;
#endif

/// The fastest kernel that this processor supports.
const FilterKernel& best_filter_kernel();

}  // namespace kernels
