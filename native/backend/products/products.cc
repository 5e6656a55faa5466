#include "products/products.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "products/numbers.h"
#include "products/team_in_use.h"

namespace backend {
namespace {

gemm::Storage storage_of(const at::Tensor& weight) {
  switch (weight.scalar_type()) {
    case at::kHalf:
      return gemm::Storage::kFloat16;
    case at::kBFloat16:
      return gemm::Storage::kBFloat16;
    default:
      return gemm::Storage::kFloat32;
  }
}

/// Where the parts begin that threads take one by one, the last first. Each is half of a thread's
/// share of what is left: a thread reads panels one behind the other, for it asks for the next one
/// ahead of time, and yet none waits long for the last part.
std::vector<int64_t> starts_of_parts(int64_t panels, int64_t fewest, int64_t threads) {
  std::vector<int64_t> starts;
  for (int64_t left = panels; left > 0; left = starts.back()) {
    const int64_t count = std::max(left / (2 * threads), fewest);
    starts.push_back(std::max<int64_t>(0, left - count));
  }
  std::ranges::reverse(starts);
  return starts;
}

/// Calls multiply(first, count) for all outputs; in parts of whole panels where a team helps.
template <class Multiply>
void share_outputs(int64_t outputs, int64_t work, int64_t panel_width, const Multiply& multiply) {
  const gemm::Team* const team = TeamInUse::current();
  if (team == nullptr || work < 2 * kShareOfWork) {
    multiply(0, outputs);
    return;
  }
  const int64_t panels = (outputs + panel_width - 1) / panel_width;
  const int64_t fewest = std::max<int64_t>(1, kShareOfWork * panels / work);
  const std::vector<int64_t> starts = starts_of_parts(panels, fewest, team->threads());
  const auto count = static_cast<int64_t>(starts.size());
  share_parts(count, [&](int64_t part) {
    const int64_t first = starts[static_cast<size_t>(part)] * panel_width;
    const int64_t end =
        part + 1 < count ? starts[static_cast<size_t>(part) + 1] * panel_width : outputs;
    multiply(first, end - first);
  });
}

/// As it is packed. weight: rows end to end, of a type that gemm stores.
gemm::Linear packed(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype) {
  return {format_of(dtype),
          {weight.const_data_ptr(), storage_of(weight), weight.size(0), weight.size(1)},
          bias.defined() ? bias.const_data_ptr<float>() : nullptr};
}

}  // namespace

Product::Product(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype)
    : linear_(packed(
          (weight.scalar_type() == at::kDouble ? weight.to(at::kFloat) : weight).contiguous(), bias,
          dtype)) {}

at::Tensor Product::operator()(const at::Tensor& input, int64_t first, int64_t count,
                               gemm::Activation activation) const {
  const at::Tensor x = input.stride(1) == 1 ? input : input.contiguous();
  // Once for all parts of the outputs.
  const gemm::Rows rows = linear_.rows(x.const_data_ptr<float>(), x.size(0), x.stride(0));
  at::Tensor y = at::empty({x.size(0), count}, x.options());
  auto* const to = y.mutable_data_ptr<float>();
  share_outputs(count, x.numel() * count, linear_.panel_width(),
                [&](int64_t start, int64_t outputs) {
                  linear_.multiply(rows, {first + start, outputs, activation}, to + start, count);
                });
  return y;
}

}  // namespace backend
