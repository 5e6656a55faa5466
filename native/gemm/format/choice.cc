#include "format/choice.h"

#include <cmath>

#include "gemm/processor.h"

namespace gemm {
namespace {

using Floats = std::vector<float>;

/// A panel and some outputs of another one; steps of a product, the last one not full.
constexpr int64_t kOutputs = 37, kInputs = 150;
/// Of one tile and of two, full and not.
constexpr int64_t kRowCounts[] = {1, 16, 23, 32};
/// What sums of so many products, of size 1 at most, may be apart in another order.
constexpr float kOrder = 1e-4F;

/// From −1 to 1, the same at each start. Source: Knuth's linear congruential generator, MMIX.
Floats some_floats(int64_t count) {
  Floats values(static_cast<size_t>(count));
  uint64_t state = 1;
  for (float& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<float>(state >> 32) * 0x1p-31F - 1;
  }
  return values;
}

Floats multiply(const FormatKernel& by, const Floats& x, int64_t rows) {
  const Floats weights = some_floats(kOutputs * kInputs);
  const Linear linear(by, {weights.data(), Storage::kFloat32, kOutputs, kInputs}, nullptr);
  Floats y(static_cast<size_t>(rows * kOutputs));
  linear.multiply(linear.rows(x.data(), rows, kInputs), {0, kOutputs}, y.data(), kOutputs);
  return y;
}

bool is_right(const FormatKernel& by) {
  const FormatKernel portable(*by.format, *by.format->kernels.back());
  // Sums of integers are exact, and what follows is two operations in the same order.
  const float tolerance = by.format->is_integer ? 0 : kOrder;
  for (const int64_t rows : kRowCounts) {
    const Floats x = some_floats(rows * kInputs);
    const Floats got = multiply(by, x, rows), wanted = multiply(portable, x, rows);
    for (size_t i = 0; i < got.size(); ++i) {
      const bool is_near = std::abs(got[i] - wanted[i]) <= tolerance;  // false of NaN
      if (!is_near) return false;
    }
  }
  return true;
}

/// Of this processor; made where one is first asked for.
const Choice& chosen(Format format) {
  static const std::vector<Choice> by_format = [] {
    std::vector<Choice> choices;
    for (const FormatDescription& each : formats()) {
      std::vector<const FormatDescription*> alike;
      for (const FormatDescription& other : formats()) {
        if (other.kernels.data() == each.kernels.data()) alike.push_back(&other);
      }
      choices.push_back(choose(alike, this_processor().usable));
    }
    return choices;
  }();
  return by_format[static_cast<size_t>(format)];
}

}  // namespace

std::string find_problem(const Kernel& kernel, std::span<const FormatDescription* const> formats) {
  if ((kernel.needs & kAmxTile) == 0) return "";
  for (const FormatDescription* const format : formats) {
    if (!is_right({*format, kernel})) return "its products differ from the portable kernel's";
  }
  return "";
}

Choice choose(std::span<const FormatDescription* const> formats, Instructions usable) {
  const auto kernels = formats.front()->kernels;
  Choice choice{.kernel = kernels.back(), .warnings = {}};
  for (const Kernel* const candidate : kernels.first(kernels.size() - 1)) {
    if ((candidate->needs & ~usable) != 0) continue;
    const std::string problem = find_problem(*candidate, formats);
    if (problem.empty()) {
      choice.kernel = candidate;
      break;
    }
    choice.warnings.push_back(std::string("the ") + candidate->name +
                              " kernel is not used: " + problem);
  }
  return choice;
}

FormatKernel::FormatKernel(Format format)
    : format(&description_of(format)), kernel(chosen(format).kernel) {}

const char* kernel_name(Format format) { return chosen(format).kernel->name; }

bool is_fast(Format format) {
  const auto kernels = description_of(format).kernels;
  return chosen(format).kernel != kernels.back() || kernels.size() == 1;
}

const std::vector<std::string>& kernel_warnings(Format format) { return chosen(format).warnings; }

}  // namespace gemm
