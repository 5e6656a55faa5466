#include "packed/linear.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "kernels/elementwise.h"
#include "packed/parallel_for.h"

namespace backend {
namespace {

kernels::Storage storage_of(const at::Tensor& weight) {
  switch (weight.scalar_type()) {
    case at::kHalf:
      return kernels::Storage::kFloat16;
    case at::kBFloat16:
      return kernels::Storage::kBFloat16;
    default:
      return kernels::Storage::kFloat32;
  }
}

/// First panels of the parts, ascending, by guided self-scheduling: threads take the last part
/// first, and each part is half of a thread's share of the remaining panels. Panels of a part are
/// contiguous, which the kernel's prefetch needs.
std::vector<int64_t> part_starts(int64_t panels, int64_t min_panels, int64_t threads) {
  std::vector<int64_t> starts;
  for (int64_t left = panels; left > 0; left = starts.back()) {
    const int64_t count = std::max(left / (2 * threads), min_panels);
    starts.push_back(std::max<int64_t>(0, left - count));
  }
  std::ranges::reverse(starts);
  return starts;
}

/// Calls multiply(first, count) for ranges of whole panels that cover all outputs, in parallel.
template <class Multiply>
void parallel_for_columns(int64_t outputs, int64_t work, int64_t panel_width,
                          const Multiply& multiply) {
  const scheduler::ThreadPool* const pool = ScopedThreadPool::current();
  if (pool == nullptr || work < 2 * kMinMultiplyAddsPerPart) {
    multiply(0, outputs);
    return;
  }
  const int64_t panels = (outputs + panel_width - 1) / panel_width;
  const int64_t min_panels = std::max<int64_t>(1, kMinMultiplyAddsPerPart * panels / work);
  const std::vector<int64_t> starts = part_starts(panels, min_panels, pool->threads());
  const auto count = static_cast<int64_t>(starts.size());
  parallel_for(count, [&](int64_t part) {
    const int64_t first = starts[static_cast<size_t>(part)] * panel_width;
    const int64_t end =
        part + 1 < count ? starts[static_cast<size_t>(part) + 1] * panel_width : outputs;
    multiply(first, end - first);
  });
}

constexpr size_t kNoBias = SIZE_MAX;

/// Positions of an operator's arguments. is_transposed: the weight is [in, out].
struct Signature {
  std::string_view name;
  size_t arguments, input, weight, bias;
  bool is_transposed;
};

constexpr Signature kSignatures[] = {
    {"aten::linear", 3, 0, 1, 2, false},
    {"aten::addmm", 5, 1, 2, 0, true},
    {"aten::mm", 2, 0, 1, kNoBias, true},
    {"aten::matmul", 2, 0, 1, kNoBias, true},
};

const Signature* find_signature(std::string_view name) {
  const auto* const signature = std::ranges::find(kSignatures, name, &Signature::name);
  return signature != std::end(kSignatures) ? signature : nullptr;
}

bool is_one(const c10::IValue& value) {
  return value.isScalar() && value.toScalar().toDouble() == 1;
}

}  // namespace

PackedLinear::PackedLinear(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype)
    : outputs_(weight.size(0)), linear_([&]() -> kernels::Linear {
        const at::Tensor stored =
            (weight.scalar_type() == at::kDouble ? weight.to(at::kFloat) : weight).contiguous();
        return {dtype,
                {stored.const_data_ptr(), storage_of(stored), outputs_, stored.size(1)},
                bias.defined() ? bias.const_data_ptr<float>() : nullptr};
      }()) {}

at::Tensor PackedLinear::operator()(const at::Tensor& x, int64_t first, int64_t count,
                                    kernels::Epilogue epilogue) const {
  at::Tensor y = at::empty({x.size(0), count}, x.options());
  into(x, first, epilogue, y);
  return y;
}

void PackedLinear::into(const at::Tensor& input, int64_t first, kernels::Epilogue epilogue,
                        const at::Tensor& y) const {
  const at::Tensor x = input.stride(1) == 1 ? input : input.contiguous();
  // Packed once for all parts of the outputs.
  kernels::PackedA rows = linear_.deferred_a(x.const_data_ptr<float>(), x.size(0), x.stride(0));
  if (rows.needs_packing()) {
    parallel_for_rows(rows.rows(), linear_.inputs(),
                      [&](int64_t start, int64_t some) { rows.pack(start, some); });
  }
  const int64_t count = y.size(1);
  auto* const to = y.mutable_data_ptr<float>();
  parallel_for_columns(count, x.numel() * count, linear_.nr(), [&](int64_t start, int64_t outputs) {
    linear_.multiply(rows, {first + start, outputs, epilogue}, to + start, y.stride(0));
  });
}

void activate(const at::Tensor& y, kernels::Epilogue epilogue) {
  auto* const values = y.mutable_data_ptr<float>();
  const int64_t columns = y.size(-1);
  parallel_for_rows(y.numel() / columns, columns, [&](int64_t first, int64_t rows) {
    kernels::activate(epilogue, values + first * columns, rows * columns);
  });
}

bool PackedLinear::accepts(const at::Tensor& x) const {
  return x.defined() && x.scalar_type() == at::kFloat && x.device().is_cpu() &&
         x.layout() == at::kStrided && x.dim() >= 1 && x.size(-1) == inputs() && inputs() > 0;
}

at::Tensor PackedLinear::operator()(const at::Tensor& x, kernels::Epilogue epilogue) const {
  at::Tensor y = (*this)(x.reshape({-1, inputs()}), 0, outputs_, epilogue);
  if (x.dim() == 2) return y;
  std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = outputs_;
  return y.view(sizes);
}

std::optional<size_t> linear_input(std::string_view name) {
  const Signature* const signature = find_signature(name);
  return signature != nullptr ? std::optional(signature->input) : std::nullopt;
}

std::shared_ptr<const PackedLinear> PackedLinears::pack(std::string_view name,
                                                        std::span<const c10::IValue> arguments) {
  const Signature* const signature = find_signature(name);
  if (signature == nullptr || arguments.size() != signature->arguments) return nullptr;
  // addmm: beta × bias + alpha × product
  if (signature->bias == 0 && !(is_one(arguments[3]) && is_one(arguments[4]))) return nullptr;
  const c10::IValue& weight = arguments[signature->weight];
  if (!weight.isTensor() || weight.toTensor().dim() != 2) return nullptr;
  at::Tensor bias;
  if (signature->bias != kNoBias && !arguments[signature->bias].isNone()) {
    if (!arguments[signature->bias].isTensor()) return nullptr;
    bias = arguments[signature->bias].toTensor();
  }
  return pack(signature->is_transposed ? weight.toTensor().t() : weight.toTensor(), bias);
}

std::shared_ptr<const PackedLinear> PackedLinears::pack(const at::Tensor& weight,
                                                        const at::Tensor& bias) {
  // LibTorch computes in the stored type: the arithmetic is equal for float32 only.
  const auto is_float32 = [](const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kFloat && tensor.layout() == at::kStrided &&
           tensor.device().is_cpu() && !tensor.is_neg();
  };
  if (!is_float32(weight) || weight.numel() == 0) return nullptr;
  if (bias.defined() && (!is_float32(bias) || bias.dim() != 1 || bias.size(0) != weight.size(0))) {
    return nullptr;
  }
  const Key key{weight.const_data_ptr(),
                weight.size(0),
                weight.size(1),
                weight.stride(0),
                weight.stride(1),
                bias.defined() ? bias.const_data_ptr() : nullptr,
                bias.defined() ? bias.stride(0) : 0};
  auto& layer = layers_[key];
  if (!layer) {
    layer = std::make_shared<const PackedLinear>(weight, bias.defined() ? bias.contiguous() : bias,
                                                 dtype_);
  }
  return layer;
}

}  // namespace backend
