#include "products/products.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "gemm/bfloat16_linear.h"
#include "gemm/quantized_linear.h"
#include "gemm/split_linear.h"
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

at::Tensor contiguous_rows(const at::Tensor& x) { return x.stride(1) == 1 ? x : x.contiguous(); }

/// Rows that lie a multiple of so many bytes apart share a few sets of the first-level cache, which
/// the rows of one tile do not fit into.
constexpr int64_t kSetsApart = 4096;
constexpr int64_t kLine = 64 / sizeof(float);

/// The same rows, a cache line further apart where that matters. Copied once, for all parts of the
/// outputs.
at::Tensor rows_apart(const at::Tensor& input) {
  constexpr int64_t kFew = 4;
  at::Tensor x = contiguous_rows(input);
  const int64_t bytes = x.stride(0) * static_cast<int64_t>(sizeof(float));
  if (bytes % kSetsApart != 0 || x.size(0) <= kFew) return x;
  const at::Tensor apart = at::empty({x.size(0), x.size(1) + kLine}, x.options());
  return apart.narrow(1, 0, x.size(1)).copy_(x);
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

class Float32Product final : public Product {
 public:
  Float32Product(const at::Tensor& weight, const float* bias)
      : packed_(weight.const_data_ptr(), storage_of(weight), bias, weight.size(0), weight.size(1)) {
  }

  at::Tensor operator()(const at::Tensor& input, int64_t first, int64_t count,
                        gemm::Activation activation) const override {
    const at::Tensor x = rows_apart(input);
    at::Tensor y = at::empty({x.size(0), count}, x.options());
    const gemm::PackedLinear::Operands all{.x = x.const_data_ptr<float>(),
                                           .rows = x.size(0),
                                           .x_stride = x.stride(0),
                                           .y = y.mutable_data_ptr<float>(),
                                           .y_stride = count,
                                           .activation = activation};
    share_outputs(count, all.rows * packed_.inputs() * count, packed_.panel_width(),
                  [&](int64_t start, int64_t outputs) {
                    gemm::PackedLinear::Operands share = all;
                    share.y += start;
                    packed_.multiply(share, first + start, outputs);
                  });
    return y;
  }

 private:
  gemm::PackedLinear packed_;
};

/// What a product is asked for.
struct Wanted {
  int64_t first;  ///< output
  int64_t count;
  gemm::Activation activation;
};

/// rows: x as the layer multiplies it, made once for all parts of the outputs.
template <class Linear, class Rows>
at::Tensor multiplied(const Linear& linear, const Rows& rows, const at::Tensor& x,
                      const Wanted& wanted) {
  at::Tensor y = at::empty({x.size(0), wanted.count}, x.options());
  auto* const to = y.mutable_data_ptr<float>();
  share_outputs(wanted.count, x.numel() * wanted.count, linear.panel_width(),
                [&](int64_t start, int64_t outputs) {
                  linear.multiply(rows, to + start, wanted.count, wanted.activation,
                                  wanted.first + start, outputs);
                });
  return y;
}

/// Both factors in a smaller number format. Rows of x are rounded once, for all parts of the
/// outputs.
template <class Rows, class RoundedLinear>
class RoundedProduct final : public Product {
 public:
  RoundedProduct(const at::Tensor& weight, const float* bias)
      : linear_(weight.to(at::kFloat).const_data_ptr<float>(), bias, weight.size(0),
                weight.size(1)) {}

  at::Tensor operator()(const at::Tensor& input, int64_t first, int64_t count,
                        gemm::Activation activation) const override {
    const at::Tensor x = contiguous_rows(input);
    const Rows rows(x.const_data_ptr<float>(), x.size(0), x.stride(0), x.size(1));
    return multiplied(linear_, rows, x, {first, count, activation});
  }

 private:
  RoundedLinear linear_;
};

/// Float32 as sums of bfloat16 numbers.
class SplitProduct final : public Product {
 public:
  SplitProduct(const at::Tensor& weight, const float* bias, gemm::Parts parts)
      : parts_(parts),
        linear_(weight.const_data_ptr(), storage_of(weight), bias, weight.size(0), weight.size(1)) {
  }

  at::Tensor operator()(const at::Tensor& input, int64_t first, int64_t count,
                        gemm::Activation activation) const override {
    const at::Tensor x = contiguous_rows(input);
    const gemm::SplitRows rows(x.const_data_ptr<float>(), x.size(0), x.stride(0), x.size(1),
                               parts_);
    return multiplied(linear_, rows, x, {first, count, activation});
  }

 private:
  gemm::Parts parts_;
  gemm::SplitLinear linear_;
};

using Int8Product = RoundedProduct<gemm::QuantizedRows, gemm::QuantizedLinear>;
using BFloat16Product = RoundedProduct<gemm::BFloat16Rows, gemm::BFloat16Linear>;

}  // namespace

std::shared_ptr<const Product> make_product(const at::Tensor& weight, const at::Tensor& bias,
                                            Dtype dtype) {
  const at::Tensor whole =
      (weight.scalar_type() == at::kDouble ? weight.to(at::kFloat) : weight).contiguous();
  const float* const bias_data = bias.defined() ? bias.const_data_ptr<float>() : nullptr;
  switch (dtype) {
    case Dtype::kInt8:
      return std::make_shared<Int8Product>(whole, bias_data);
    case Dtype::kBFloat16:
      return std::make_shared<BFloat16Product>(whole, bias_data);
    case Dtype::kBFloat16x3:
      return std::make_shared<SplitProduct>(whole, bias_data, gemm::Parts::kTwo);
    case Dtype::kBFloat16x6:
      return std::make_shared<SplitProduct>(whole, bias_data, gemm::Parts::kThree);
    case Dtype::kFloat32:
      break;
  }
  return std::make_shared<Float32Product>(whole, bias_data);
}

}  // namespace backend
