#include "format/pack.h"

#include "format/bfloat16.h"
#include "format/widen.h"

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

void widen_output(const StoredWeight& weight, int64_t output, float* to) {
  const int64_t inputs = weight.inputs;
  if (weight.storage == Storage::kFloat32) {
    std::copy_n(static_cast<const float*>(weight.values) + output * inputs, inputs, to);
    return;
  }
  const auto* const bits = static_cast<const uint16_t*>(weight.values) + output * inputs;
  std::transform(bits, bits + inputs, to,
                 weight.storage == Storage::kFloat16 ? widen_float16 : widen_bfloat16);
}

PackedWeight pack_as_stored(const StoredWeight& weight, const Kernel& kernel) {
  const int64_t width = kernel.panel_width;
  const int64_t panel_bytes = width * weight.inputs * bytes_of(weight.storage);
  const int64_t panels = ceil_divide(weight.outputs, width);
  PackedWeight packed{.panels = make_aligned<std::byte>(static_cast<size_t>(panels * panel_bytes)),
                      .panel_bytes = panel_bytes};
  if (weight.storage == Storage::kFloat32) {
    pack(weight, reinterpret_cast<float*>(packed.panels.get()), width);
  } else {
    pack(weight, reinterpret_cast<uint16_t*>(packed.panels.get()), width);
  }
  return packed;
}

PackedWeight pack_bfloat16(const StoredWeight& weight, const Kernel& kernel) {
  GroupedPanels<uint16_t, kPair> panels(weight, kernel);
  std::vector<float> row(static_cast<size_t>(weight.inputs));
  for (int64_t output = 0; output < weight.outputs; ++output) {
    widen_output(weight, output, row.data());
    for (int64_t k = 0; k < weight.inputs; ++k) {
      // Not by an instruction: those count what is subnormal as 0 before they round.
      panels.set(output, k, round_to_bfloat16(row[static_cast<size_t>(k)]));
    }
  }
  return std::move(panels).take();
}

}  // namespace gemm
