// Linear layers of programs, by their ATen operators.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

#include "packed/linear.h"
#include "runtime/runtime.h"

namespace {

using backend::Dtype;
using backend::linear_input;
using backend::PackedLinears;

constexpr int64_t kInputs = 50, kOutputs = 35;
constexpr auto kStore = kernels::Epilogue::kStore;
constexpr c10::nullopt_t kInput = c10::nullopt;  // unset: the input

/// Packs a single layer.
std::shared_ptr<const backend::PackedLinear> packed(const char* name,
                                                    const std::vector<c10::IValue>& arguments) {
  return PackedLinears(Dtype::kFloat32).pack(name, arguments);
}

void expect_near(const at::Tensor& got, const at::Tensor& wanted) {
  ASSERT_EQ(got.sizes(), wanted.sizes());
  const at::Tensor error = (got - wanted).abs().max();
  EXPECT_LT(error.item<double>(), 2e-5);
}

TEST(PackedLinearTest, IsThatOfLibTorch) {
  const c10::InferenceMode inference_mode;
  at::manual_seed(1);
  const at::Tensor weight = at::randn({kOutputs, kInputs}), transposed = weight.t();
  const at::Tensor bias = at::randn({kOutputs});
  const auto linear = packed("aten::linear", {kInput, weight, bias});
  const auto bare = packed("aten::linear", {kInput, weight, {}});
  const auto addmm = packed("aten::addmm", {bias, kInput, transposed, 1, 1.0});
  const auto mm = packed("aten::mm", {kInput, transposed});
  const auto matmul = packed("aten::matmul", {kInput, transposed});
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{kInputs}, {1, kInputs}, {7, kInputs}, {2, 3, kInputs}}) {
    const at::Tensor x = at::randn(sizes);
    ASSERT_TRUE(linear->accepts(x));
    expect_near((*linear)(x, kStore), at::linear(x, weight, bias));
    expect_near((*bare)(x, kStore), at::linear(x, weight));
    expect_near((*matmul)(x, kStore), at::matmul(x, transposed));
    if (x.dim() != 2) continue;
    expect_near((*addmm)(x, kStore), at::addmm(bias, x, transposed));
    expect_near((*mm)(x, kStore), at::matmul(x, transposed));
  }
  EXPECT_FALSE(linear->accepts(at::randn({2, kInputs + 1})));
  EXPECT_FALSE(linear->accepts(at::randn({2, kInputs}, at::kDouble)));
}

/// The number of rows determines LibTorch's algorithm and, on some processors, its last bits.
TEST(PackedLinearTest, ARowHasTheSameBitsInAnyBatch) {
  const c10::InferenceMode inference_mode;
  at::manual_seed(2);
  const auto layer = packed("aten::linear", {kInput, at::randn({3, 64}), at::randn({3})});
  const at::Tensor x = at::randn({48, 64}), all = (*layer)(x, kStore);
  for (const int64_t rows : {1, 2, 3, 16, 47}) {
    const at::Tensor some = (*layer)(x.narrow(0, 48 - rows, rows), kStore);
    EXPECT_TRUE(some.equal(all.narrow(0, 48 - rows, rows))) << rows;
  }
}

/// Like x[mask] if nothing is selected.
TEST(PackedLinearTest, NoRowsBecomeNoRows) {
  const c10::InferenceMode inference_mode;
  const at::Tensor weight = at::randn({kOutputs, kInputs});
  for (const auto& format : kernels::formats()) {
    PackedLinears layers(format.format);
    const auto layer = layers.pack("aten::linear", std::vector<c10::IValue>{kInput, weight, {}});
    for (const auto epilogue : {kernels::Epilogue::kStore, kernels::Epilogue::kGelu}) {
      EXPECT_EQ((*layer)(at::randn({0, kInputs}), epilogue).sizes(),
                (at::IntArrayRef{0, kOutputs}));
      EXPECT_EQ((*layer)(at::randn({2, 0, kInputs}), epilogue).sizes(),
                (at::IntArrayRef{2, 0, kOutputs}));
    }
  }
}

TEST(PackedLinearTest, LeavesToLibTorchWhatItDoesNotTake) {
  const c10::InferenceMode inference_mode;
  const at::Tensor weight = at::randn({kOutputs, kInputs}), transposed = weight.t();
  const at::Tensor bias = at::randn({kOutputs});
  EXPECT_EQ(linear_input("aten::linear"), 0U);
  EXPECT_EQ(linear_input("aten::addmm"), 1U);
  EXPECT_FALSE(linear_input("aten::conv1d"));
  EXPECT_FALSE(packed("aten::conv1d", {kInput, weight, bias}));
  EXPECT_FALSE(packed("aten::linear", {kInput, weight}));
  EXPECT_FALSE(packed("aten::linear", {kInput, 1.0, bias}));
  EXPECT_FALSE(packed("aten::linear", {kInput, weight, 1.0}));
  EXPECT_FALSE(packed("aten::linear", {kInput, weight.to(at::kDouble), {}}));
  EXPECT_FALSE(packed("aten::linear", {kInput, weight, bias.to(at::kDouble)}));
  EXPECT_FALSE(packed("aten::linear", {kInput, weight, at::randn({kOutputs + 1})}));
  EXPECT_FALSE(packed("aten::linear", {kInput, weight, at::randn({1, kOutputs})}));
  EXPECT_FALSE(packed("aten::linear", {kInput, weight.narrow(0, 0, 0), {}}));
  EXPECT_FALSE(packed("aten::linear", {kInput, at::_neg_view(weight), {}}));
  EXPECT_FALSE(packed("aten::matmul", {kInput, at::randn({2, kInputs, kOutputs})}));
  EXPECT_FALSE(packed("aten::addmm", {bias, kInput, transposed, 2, 1}));
  EXPECT_FALSE(packed("aten::addmm", {bias, kInput, transposed, 1, 0.5}));
}

/// A weight is packed once for all operators that use it.
TEST(PackedLinearTest, PacksAWeightOnce) {
  const c10::InferenceMode inference_mode;
  const at::Tensor weight = at::randn({kOutputs, kInputs});
  PackedLinears layers(Dtype::kFloat32);
  const auto first = layers.pack("aten::linear", std::vector<c10::IValue>{kInput, weight, {}});
  EXPECT_EQ(layers.pack("aten::matmul", std::vector<c10::IValue>{kInput, weight.t()}), first);
  EXPECT_NE(layers.pack("aten::matmul", std::vector<c10::IValue>{kInput, weight}), first);
}

/// Equal memory with other strides is another weight.
TEST(PackedLinearTest, LayersOfOneAddressAreToldApart) {
  const c10::InferenceMode inference_mode;
  const at::Tensor weight = at::randn({kOutputs, kInputs}), bias = at::randn({kOutputs});
  const at::Tensor one = bias.narrow(0, 0, 1).expand({kOutputs});
  const at::Tensor x = at::randn({3, kInputs});
  PackedLinears layers(Dtype::kFloat32);
  for (const at::Tensor& each : {bias, one}) {
    const auto layer = layers.pack("aten::linear", std::vector<c10::IValue>{kInput, weight, each});
    expect_near((*layer)(x, kStore), at::linear(x, weight, each));
  }
}

/// Other threads set another number for other models in between.
TEST(PackedLinearTest, AThreadKeepsTheIntraOpThreadsThatItWasGiven) {
  std::promise<void> is_set, is_set_elsewhere;
  std::thread worker([&] {
    backend::set_intra_op_threads(3);
    is_set.set_value();
    is_set_elsewhere.get_future().wait();
    EXPECT_EQ(at::get_num_threads(), 3);
  });
  is_set.get_future().wait();
  std::thread([] { backend::set_intra_op_threads(1); }).join();
  is_set_elsewhere.set_value();
  worker.join();
}

}  // namespace
