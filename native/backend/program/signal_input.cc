#include "program/signal_input.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <span>

#include "program/signature.h"

namespace backend {
namespace {

std::string words_for_shape(std::span<const Extent> sizes) {
  std::string text;
  for (const Extent& size : sizes) text += (text.empty() ? "" : ", ") + words_for(size);
  return "[" + text + "]";
}

std::string words_for_shape(const std::vector<int64_t>& shape) {
  std::vector<Extent> sizes;
  sizes.reserve(shape.size());
  for (const int64_t size : shape) sizes.push_back({.least = size, .most = size});
  return words_for_shape(sizes);
}

bool fits(const std::vector<int64_t>& shape, std::span<const Extent> sizes) {
  return std::ranges::equal(shape, sizes, [](int64_t size, const Extent& given) {
    const Extent extent = as_meant(given);
    return size >= extent.least && size <= extent.most;
  });
}

/// Of any shape, without an overflow.
double count_of(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<double>());
}

/// `sizes`: of a window, as the file has them.
std::vector<int64_t> shape_within(std::span<const Extent> sizes,
                                  const SignalProgramSource& source) {
  const std::filesystem::path path(source.path);
  const std::string settings = path.stem().string() + ".json";
  const auto length = static_cast<int64_t>(source.window_length);
  std::vector<int64_t> shape = source.input_shape;
  if (shape.empty() && std::ranges::all_of(sizes, &Extent::is_fixed)) {
    for (const Extent& size : sizes) shape.push_back(size.least);
    if (count_of(shape) == static_cast<double>(length)) return shape;
    throw LoadError(path.filename().string() + ": takes windows of " + words_for_shape(sizes) +
                    ", but " + settings + " says (or leaves it at) window_length " +
                    std::to_string(length) + ": set it there to the product of these");
  }
  if (shape.empty()) shape = {1, length};
  if (fits(shape, sizes)) return shape;
  throw LoadError(path.filename().string() + ": takes windows of " + words_for_shape(sizes) +
                  ", but is given " + words_for_shape(shape) + ": set input_shape in " + settings);
}

}  // namespace

SignalInput signal_input_of(const std::vector<ProgramInput>& inputs,
                            const SignalProgramSource& source) {
  const std::string file = std::filesystem::path(source.path).filename().string();
  if (inputs.size() != 1) {
    throw LoadError(file + ": takes " + words_for(inputs) + ", expected one, the windows");
  }
  const ProgramInput& input = inputs.front();
  const c10::ScalarType type = input.type.value_or(c10::kFloat);
  if (!c10::isFloatingType(type) || c10::elementSize(type) == 1) {
    throw LoadError(file + ": " + input.name + ": takes " + c10::toString(type) +
                    ", expected a floating-point type");
  }
  if (!input.sizes) {
    const auto length = static_cast<int64_t>(source.window_length);
    const std::vector<int64_t> usual{1, length};
    return {.shape = source.input_shape.empty() ? usual : source.input_shape,
            .type = type,
            .windows = {}};
  }
  if (input.sizes->empty()) {
    throw LoadError(file + ": " + input.name + ": takes one number, expected windows");
  }
  const Extent windows = as_meant(input.sizes->front());
  if (windows.most < 1) throw LoadError(file + ": " + input.name + ": takes 0 windows");
  return {.shape = shape_within(std::span(*input.sizes).subspan(1), source),
          .type = type,
          .windows = windows};
}

}  // namespace backend
