// Layers that several models share.
#include "packed/shared_layers.h"

#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <memory>

namespace {

using backend::Dtype;
using backend::share_layer;

class SharedLayersTest : public testing::Test {
 protected:
  const c10::InferenceMode inference_mode_;
  const at::Tensor weight_ = at::randn({6, 5}), bias_ = at::randn({6});
};

TEST_F(SharedLayersTest, EqualWeightsAreStoredOnce) {
  const auto first = share_layer(weight_, bias_, Dtype::kFloat32);
  EXPECT_EQ(share_layer(weight_.clone(), bias_.clone(), Dtype::kFloat32), first);
}

/// Every single element, the shape, the type, the bias and the data type make a difference.
TEST_F(SharedLayersTest, OtherWeightsAreNotShared) {
  const auto first = share_layer(weight_, bias_, Dtype::kFloat32);
  for (int64_t i = 0; i < weight_.numel(); ++i) {
    const at::Tensor other = weight_.clone();
    other.mutable_data_ptr<float>()[i] += 1;
    EXPECT_NE(share_layer(other, bias_, Dtype::kFloat32), first) << i;
  }
  const at::Tensor other_bias = bias_.clone();
  other_bias.mutable_data_ptr<float>()[5] += 1;
  EXPECT_NE(share_layer(weight_, other_bias, Dtype::kFloat32), first);
  EXPECT_NE(share_layer(weight_, {}, Dtype::kFloat32), first);
  EXPECT_NE(share_layer(weight_, bias_, Dtype::kInt8), first);
  EXPECT_NE(share_layer(weight_.view({5, 6}), {}, Dtype::kFloat32),
            share_layer(weight_, {}, Dtype::kFloat32));
  EXPECT_NE(share_layer(weight_.to(at::kDouble), bias_, Dtype::kFloat32), first);
}

TEST_F(SharedLayersTest, LayersEndWithTheirLastModel) {
  auto first = share_layer(weight_, bias_, Dtype::kFloat32);
  const std::weak_ptr<const backend::PackedLinear> observed = first;
  auto second = share_layer(weight_, bias_, Dtype::kFloat32);
  first.reset();
  EXPECT_FALSE(observed.expired());
  second.reset();
  EXPECT_TRUE(observed.expired());
}

}  // namespace
