// Operands of the products of one head: queries and keys, softmax numerators and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "attention/head_layout.h"
#include "elementwise/elementwise.h"
#include "kernels/attention.h"
#include "matmul/kernel.h"

namespace kernels {

inline constexpr float kNoBias[kMaxNr] = {};

/// Consecutive queries, and the range of tokens that they attend to.
struct QueryTile {
  int64_t first, rows;
  int64_t start;   ///< first token, at the start of a block
  int64_t end;     ///< end of the tokens
  int64_t padded;  ///< number of tokens from `start` to the end of the last block
};

/// Rows of a left operand. stride: row stride in values.
struct RowOperand {
  const void* values;
  int64_t stride;
  const RowScale* scales = nullptr;  ///< int8 only
};

/// One panel of a right operand.
struct PanelOperand {
  const std::byte* values;
  int64_t inputs;
  const float* scales = nullptr;        ///< int8 only
  const int32_t* first_sums = nullptr;  ///< int8 only
  const float* bias = kNoBias;
  bool accumulates = false;  ///< int8 only
};

/// The scratch memory of one head, and its products.
class HeadMemory {
 public:
  HeadMemory(const Elementwise& elementwise, const FormatKernel& by, const AttentionHead& head,
             float* memory)
      : elementwise_(elementwise),
        kernel_(*by.kernel),
        layout_(by, head),
        head_(head),
        memory_(memory),
        tiles_(layout_.is_int8 ? kernel_.int8_attention->tiles : kernel_.tiles),
        positions_(head.positions != nullptr ? &head.positions->packed_for(by) : nullptr) {}

  const Kernel& kernel() const { return kernel_; }
  const HeadLayout& layout() const { return layout_; }
  /// Null: the head has no relative positions.
  const PackedPositions* positions() const { return positions_; }
  float* scores() const { return memory_ + layout_.scores; }
  float* floats(int64_t offset) const { return memory_ + offset; }
  /// Address of a value in a region of the memory. offset: start of the region, see HeadLayout.
  std::byte* value_at(int64_t offset, int64_t index) const {
    return reinterpret_cast<std::byte*>(memory_ + offset) + index * kernel_.value_bytes;
  }
  RowScale* row_scales(int64_t offset) const {
    return reinterpret_cast<RowScale*>(memory_ + offset);
  }

  /// The panel of keys that starts at a token.
  PanelOperand keys_at(int64_t token) const {
    return {.values = value_at(layout_.keys, token * layout_.inputs),
            .inputs = layout_.inputs,
            .scales = memory_ + layout_.key_scales + token,
            .first_sums = reinterpret_cast<const int32_t*>(memory_ + layout_.key_sums) + token};
  }

  /// Computes one tile. Nothing is prefetched: the panel is in the cache.
  void multiply(int64_t rows, const RowOperand& a, const PanelOperand& panel, float* to,
                int64_t to_stride) const;

 protected:
  /// Divides results [rows, nr] by the sums [rows], and stores the dimensions from `first` on.
  void store_results(const QueryTile& tile, int64_t first, const float* results,
                     const float* sums) const;

  bool has_sink() const { return head_.sink > -std::numeric_limits<float>::infinity(); }

  const Elementwise& elementwise_;
  const Kernel& kernel_;
  HeadLayout layout_;
  AttentionHead head_;
  float* memory_;

 private:
  const TileFunction* tiles_;
  const PackedPositions* positions_;
};

/// float32 or bfloat16. Keys and values are packed into panels, like the weights of a linear layer.
class FloatOperands : public HeadMemory {
 public:
  FloatOperands(const Elementwise& elementwise, const FormatKernel& by, const AttentionHead& head,
                float* memory);

  RowOperand queries_of(const QueryTile& tile) const;
  /// Key position vectors, from a row of the table on.
  PanelOperand key_vectors(const PackedPositions& positions, int64_t row) const;
  /// Softmax of the scores of a tile, multiplied with the values: the results of its queries.
  void compute_results(const QueryTile& tile) const;

 private:
  void round_panels(int64_t inputs, int64_t padded, int64_t panels, int64_t offset) const;
  RowOperand pack_a(const RowsToPack& rows) const;
  RowOperand exponentials_of(const QueryTile& tile, const float* sinks, float* sums) const;
};

/// int8, see int8_kernel.h. The mean of the keys is subtracted from each key: the softmax does not
/// change, and components that are large in every key need no part of the range.
class Int8Operands : public HeadMemory {
 public:
  Int8Operands(const Elementwise& elementwise, const FormatKernel& by, const AttentionHead& head,
               float* memory);

  RowOperand queries_of(const QueryTile& tile) const;
  /// The result includes the products of the mean of the keys and the query position vectors.
  PanelOperand key_vectors(const PackedPositions& positions, int64_t row) const;
  void compute_results(const QueryTile& tile) const;

 private:
  void pack_keys() const;
  void pack_values() const;
  bool has_mean() const;
  void sinks_of(const QueryTile& tile, float* sinks) const;
  const Int8Attention& functions() const { return *kernel_.int8_attention; }
};

}  // namespace kernels
