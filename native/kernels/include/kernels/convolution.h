// Convolution filters over samples that are contiguous in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernels {

struct FilterKernel;

/// Samples that each filter may read after an offset, if the output is shorter.
constexpr int64_t kFilterSamples = 16;

/// Input and output of filters: y[f][i] = bias[f] + Σ weight[f][tap] × x[offsets[tap] + i] for
/// i < length. Reads max(length, kFilterSamples) samples after each offset.
struct FilteredSamples {
  const float* x;
  const int64_t* offsets;  ///< [taps]
  int64_t length;
  float* y;          ///< [filters, length]
  int64_t y_stride;  ///< row stride of y in floats
  bool fuse_relu = false;
};

/// Filters of a convolution that read the same samples. Thread-safe. The bits of an output sample
/// depend neither on the length nor on the other filters.
class Filters {
 public:
  struct Weight {
    const float* values;  ///< [filters, taps], contiguous
    const float* bias;    ///< [filters]; null: no bias
    int64_t filters, taps;
  };

  /// Filters for the fastest kernel of this processor. Weight and bias are copied.
  explicit Filters(const Weight& weight);
  /// For a kernel of the caller's choice, for tests.
  Filters(const Weight& weight, const FilterKernel& kernel);

  /// Blocks of filters that are computed together.
  int64_t blocks() const { return static_cast<int64_t>(blocks_.size()); }

  /// Computes the filters of one block. `samples.y` is the output of the first filter of all.
  void apply(int64_t block, const FilteredSamples& samples) const;

 private:
  struct Block {
    int64_t first, count;  ///< filters
  };

  const FilterKernel* kernel_;
  int64_t taps_;
  std::vector<Block> blocks_;
  std::vector<float> weights_;  ///< [blocks, taps, filters of the block]
  std::vector<float> bias_;
};

}  // namespace kernels
