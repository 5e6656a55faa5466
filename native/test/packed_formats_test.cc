// Products of linear layers in every number format, including those that are slow on this
// processor.
#include <ATen/Context.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sub.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "packed/linear.h"

namespace {

using backend::Dtype;

/// Maximum error of a product, relative to the largest result.
double worst_error(Dtype dtype, at::ScalarType stored, const at::Tensor& x) {
  constexpr int64_t kOutputs = 70, kFirst = 32, kCount = 35;
  const at::Tensor weight = at::randn({kOutputs, x.size(1)}).to(stored);
  const at::Tensor bias = at::randn({kOutputs});
  const at::Tensor all =
      at::linear(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble));
  const at::Tensor wanted = all.narrow(1, kFirst, kCount);
  const backend::PackedLinear layer(weight, bias, dtype);
  const at::Tensor got = layer(x, kFirst, kCount, kernels::Epilogue::kStore);
  const at::Tensor error = at::sub(got.to(at::kDouble), wanted).abs().max();
  return error.item<double>() / wanted.abs().max().item<double>();
}

/// Few and many rows, contiguous and with gaps: kernels copy some of them.
TEST(PackedFormats, AreAsExactAsTheirFormat) {
  const c10::InferenceMode inference_mode;
  at::manual_seed(1);  // independent of the order of tests
  for (const auto& format : kernels::formats()) {
    for (const at::ScalarType stored : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble}) {
      for (const int64_t inputs : {48, 1024}) {
        for (const int64_t rows : {1, 4, 5, 40}) {
          const at::Tensor wide = at::randn({rows, 2 * inputs});
          for (const at::Tensor& x : {at::randn({rows, inputs}), wide.narrow(1, 0, inputs)}) {
            EXPECT_LT(worst_error(format.format, stored, x), format.error)
                << format.name << ", " << rows << " x " << inputs;
          }
        }
      }
    }
  }
}

/// Also for rows that are copied, which depends on their number.
TEST(PackedFormats, ARowHasTheSameBitsInAnyBatch) {
  const c10::InferenceMode inference_mode;
  constexpr int64_t kInputs = 1024, kOutputs = 40;
  const at::Tensor x = at::randn({20, kInputs});
  for (const auto& format : kernels::formats()) {
    const backend::PackedLinear layer(at::randn({kOutputs, kInputs}), {}, format.format);
    const auto multiply = [&](int64_t rows) {
      return layer(x.narrow(0, 0, rows), 0, kOutputs, kernels::Epilogue::kStore);
    };
    const at::Tensor together = multiply(20);
    for (const int64_t rows : {1, 3, 4, 5, 16, 17}) {
      EXPECT_TRUE(multiply(rows).equal(together.narrow(0, 0, rows))) << format.name;
    }
  }
}

}  // namespace
