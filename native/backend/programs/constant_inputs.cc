#include "programs/constant_inputs.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "common/error.h"
#include "programs/report.h"

namespace backend {
namespace {

bool fits(const std::vector<int64_t>& shape, std::span<const DimRange> sizes) {
  return std::ranges::equal(shape, sizes, [](int64_t size, const DimRange& given) {
    const DimRange range = without_01_specialization(given);
    return size >= range.min && size <= range.max;
  });
}

std::string describe_shape(const std::vector<int64_t>& shape) {
  std::vector<DimRange> sizes;
  sizes.reserve(shape.size());
  for (const int64_t size : shape) sizes.push_back({.min = size, .max = size});
  return describe(std::span<const DimRange>(sizes));
}

template <class Integer>
bool holds(double value) {
  // 2^63 as double is out of range, so the maximum is exclusive after adding 1.
  const double above = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  return value == std::floor(value) && value < above &&
         value >= static_cast<double>(std::numeric_limits<Integer>::min());
}

/// Test and description of the values of a type; no test: the type is not supported.
struct Values {
  std::function<bool(double)> holds;
  std::string expected;
};

Values values_of(c10::ScalarType type) {
  switch (type) {
    case c10::kDouble:
      return {[](double value) { return std::isfinite(value); }, "a finite number"};
    case c10::kFloat:
    case c10::kHalf:
    case c10::kBFloat16: {
      const double max = type == c10::kHalf ? 65504.0 : std::numeric_limits<float>::max();
      return {[max](double value) { return std::abs(value) <= max; }, "a finite number"};
    }
    case c10::kLong:
      return {holds<int64_t>, "a whole number"};
    case c10::kInt:
      return {holds<int32_t>, "a whole number of 32 bits"};
    case c10::kBool:
      return {[](double value) { return value == 0 || value == 1; }, "0 or 1"};
    default:
      return {};
  }
}

/// The values as a tensor of the type.
at::Tensor tensor_of(const ConstantInput& given, c10::ScalarType type, const std::string& key) {
  const Values values = values_of(type);
  if (!values.holds) {
    throw common::LoadError(key + ": the program takes " + c10::toString(type) +
                            ", which constants cannot have");
  }
  const auto wrong = std::ranges::find_if_not(given.values, values.holds);
  if (wrong != given.values.end()) {
    throw common::LoadError(key + ": value " + std::to_string(wrong - given.values.begin()) +
                            ": expected " + values.expected + ", found " + std::to_string(*wrong));
  }
  at::Tensor tensor = at::empty(given.shape, at::kDouble);
  std::ranges::copy(given.values, tensor.mutable_data_ptr<double>());
  return tensor.to(type);
}

}  // namespace

ConstantArgument::ConstantArgument(const ConstantInput& given, const ProgramInput& input,
                                   const std::string& key) {
  if (!input.sizes || !input.type) {
    throw common::LoadError(key +
                            ": the file specifies no shape of this input: export the model with "
                            "torch.export");
  }
  const std::span<const DimRange> sizes(*input.sizes);
  const auto product =
      std::accumulate(given.shape.begin(), given.shape.end(), 1.0, std::multiplies<double>());
  if (product != static_cast<double>(given.values.size())) {
    throw common::LoadError(key + ": expected " + describe_shape(given.shape) + " values, found " +
                            std::to_string(given.values.size()));
  }
  batched_ = given.shape.size() + 1 == sizes.size();
  const std::span<const DimRange> expected = batched_ ? sizes.subspan(1) : sizes;
  const bool open = !batched_ && !sizes.empty() && !sizes.front().is_fixed();
  if (open || !fits(given.shape, expected)) {
    const bool has_batch = !sizes.empty() && (batched_ || open);
    throw common::LoadError(
        key + ": the program takes " + describe(sizes) + ", found " + describe_shape(given.shape) +
        (has_batch ? ": expected " + describe(sizes.subspan(1)) + ", without the batch" : ""));
  }
  if (batched_) windows_ = without_01_specialization(sizes.front());
  tensor_ = tensor_of(given, *input.type, key);
}

at::Tensor ConstantArgument::of_run(size_t windows) const {
  if (!batched_) return tensor_.clone(at::MemoryFormat::Contiguous);
  std::vector<int64_t> sizes{windows_.is_fixed() ? windows_.min : static_cast<int64_t>(windows)};
  sizes.insert(sizes.end(), tensor_.sizes().begin(), tensor_.sizes().end());
  return tensor_.expand(sizes).clone(at::MemoryFormat::Contiguous);
}

}  // namespace backend
