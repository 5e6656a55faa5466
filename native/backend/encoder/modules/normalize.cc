// Source: sentence-transformers, base/modules/normalize.py (Normalize); torch,
// nn.functional.normalize.
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "encoder/modules/module.h"

namespace backend::modules {
namespace {

constexpr double kLeast = 1e-12;  // avoids a division by zero

class Normalize final : public Module {
 public:
  explicit Normalize(int64_t columns) : columns_(columns) {}

  int64_t columns() const override { return columns_; }

  at::Tensor operator()(const at::Tensor& rows, const nn::PackedBatch& /*batch*/) const override {
    const at::Tensor whole = rows.contiguous();
    at::Tensor result = at::empty(whole.sizes(), whole.options());
    const auto* from = whole.const_data_ptr<float>();
    auto* to = result.mutable_data_ptr<float>();
    for (int64_t i = 0; i < whole.size(0); ++i, from += columns_, to += columns_) {
      double squares = 0;
      for (int64_t k = 0; k < columns_; ++k) squares += static_cast<double>(from[k]) * from[k];
      const auto length = static_cast<float>(std::max(std::sqrt(squares), kLeast));
      for (int64_t k = 0; k < columns_; ++k) to[k] = from[k] / length;
    }
    return result;
  }

 private:
  int64_t columns_;
};

}  // namespace

std::unique_ptr<Module> make(const NormalizeModule& /*options*/, int64_t columns) {
  return std::make_unique<Normalize>(columns);
}

}  // namespace backend::modules
