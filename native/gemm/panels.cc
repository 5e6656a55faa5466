#include "panels.h"

#include <algorithm>

#include "tiling.h"

namespace gemm {
namespace {

template <class Stored>
void pack(const StoredWeight& weight, Stored* panels, int64_t width) {
  const auto* const values = static_cast<const Stored*>(weight.values);
  const int64_t inputs = weight.inputs;
  for (int64_t first = 0; first < weight.outputs; first += width) {
    const int64_t count = std::min(width, weight.outputs - first);
    const Stored* rows = values + first * inputs;
    Stored* panel = panels + first * inputs;
    for (int64_t k = 0; k < inputs; ++k) {
      for (int64_t j = 0; j < count; ++j) panel[k * width + j] = rows[j * inputs + k];
      std::fill(panel + k * width + count, panel + (k + 1) * width, Stored{0});
    }
  }
}

}  // namespace

AlignedArray<std::byte> pack_panels(const StoredWeight& weight, int64_t width) {
  const int64_t values = filled_up(weight.outputs, width) * weight.inputs;
  auto panels = make_aligned<std::byte>(static_cast<size_t>(values * bytes_of(weight.storage)));
  if (weight.storage == Storage::kFloat32) {
    pack(weight, reinterpret_cast<float*>(panels.get()), width);
  } else {
    pack(weight, reinterpret_cast<uint16_t*>(panels.get()), width);
  }
  return panels;
}

}  // namespace gemm
