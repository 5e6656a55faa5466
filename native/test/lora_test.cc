// LoRA updates of linear layers, and the tensors of adapters in checkpoints.
#include "encoder/nn/lora.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "checkpoint_fixture.h"

namespace backend::nn {
namespace {

constexpr int64_t kInputs = 9, kOutputs = 18;

/// Outputs 0 to 4 have no update, 5 to 11 one of rank 3, 12 to 17 one of rank 1.
class LoraUpdateTest : public testing::Test {
 protected:
  static LoraFactors factors(int64_t rank, int64_t outputs) {
    return {.down = at::randn({rank, kInputs}), .up = at::randn({outputs, rank})};
  }

  const c10::InferenceMode inference_mode_;
  const LoraFactors second_ = factors(3, 7), third_ = factors(1, 6);
  const std::vector<LoraUpdate::Part> parts_{{5, std::nullopt}, {7, second_}, {6, third_}};
  const std::shared_ptr<const LoraUpdate> update_ = LoraUpdate::make(parts_);
  const at::Tensor x_ = at::randn({4, kInputs}), y_ = at::randn({4, kOutputs});

  at::Tensor updated(const at::Tensor& x, int64_t first, int64_t count) const {
    at::Tensor y = y_.narrow(0, 0, x.size(0)).narrow(1, first, count).contiguous().clone();
    update_->add_to(y, x, first);
    return y;
  }
};

TEST_F(LoraUpdateTest, AddsTheProductsOfTheFactors) {
  at::Tensor expected = y_.clone();
  for (const auto& [first, part] : {std::pair{5, second_}, {12, third_}}) {
    expected.narrow(1, first, part.up.size(0)) +=
        at::matmul(at::matmul(x_, part.down.t()), part.up.t());
  }
  const at::Tensor found = updated(x_, 0, kOutputs);
  EXPECT_TRUE(at::allclose(found, expected, 1e-5, 1e-5));
  EXPECT_TRUE(at::equal(found.narrow(1, 0, 5), y_.narrow(1, 0, 5)));
}

TEST_F(LoraUpdateTest, RangesAndRowsAreBitwiseIdentical) {
  const at::Tensor all = updated(x_, 0, kOutputs);
  for (int64_t first = 0; first < kOutputs; ++first) {
    for (int64_t count = 1; first + count <= kOutputs; ++count) {
      ASSERT_TRUE(at::equal(updated(x_, first, count), all.narrow(1, first, count)))
          << first << ' ' << count;
    }
  }
  EXPECT_TRUE(at::equal(updated(x_.narrow(0, 0, 1), 0, kOutputs), all.narrow(0, 0, 1)));
}

TEST_F(LoraUpdateTest, LayersWithoutFactorsHaveNoUpdate) {
  const std::vector<LoraUpdate::Part> parts{{5, std::nullopt}, {7, std::nullopt}};
  EXPECT_EQ(LoraUpdate::make(parts), nullptr);
}

}  // namespace
}  // namespace backend::nn

namespace backend {
namespace {

/// A base with a.weight and a.bias, under or without the prefix "base.".
class AdapterTest : public CheckpointTest {
 protected:
  Checkpoint adapted(const std::string& adapter_header, const std::string& data = "") {
    Checkpoint checkpoint = Checkpoint::open({write("model.safetensors", kHeader, kData)});
    checkpoint.add_adapter({.weight_file = write("adapter_model.safetensors", adapter_header,
                                                 data.empty() ? std::string(8, '\0') : data),
                            .layers = {{"base.a", {.rank = 1, .scale = 0.5}}}},
                           "base");
    return checkpoint;
  }

  static Weights weights(Checkpoint checkpoint) {
    return Weights(std::make_shared<const Checkpoint>(std::move(checkpoint)), "base");
  }
};

TEST_F(AdapterTest, TensorsReplaceThoseOfTheBaseWithAnyPrefix) {
  const Weights all = weights(adapted(R"({"base_model.model.base.a.base_layer.bias":)"
                                      R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                                      std::string("\x00\x00\x40\x40", 4)));  // 3
  EXPECT_EQ((all / "base.a").get("bias", {1}).item<float>(), 3);
  EXPECT_EQ((all / "base.a").get("weight", {2, 1})[1].item<float>(), -2);
  all.require_all_used();
}

TEST_F(AdapterTest, FactorsAreScaled) {
  const Weights layer = weights(adapted(R"({"base_model.model.base.a.lora_A.weight":)"
                                        R"({"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},)"
                                        R"("base_model.model.base.a.lora_B.weight":)"
                                        R"({"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}})",
                                        std::string("\x00\x00\x40\x40\x00\x00\x40\x40", 8))) /
                        "base.a";
  const auto factors = layer.lora_factors(1, 1);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->down.item<float>(), 3);
  EXPECT_EQ(factors->up.item<float>(), 1.5);
  EXPECT_FALSE(layer.lora_embedding_factors(1, 1));
}

TEST_F(AdapterTest, NamesMustBeThoseOfPeft) {
  EXPECT_EQ(
      message_of([&] {
        adapted(R"({"a.bias":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                std::string(4, '\0'));
      }),
      "adapter_model.safetensors: a.bias: expected a name that begins with \"base_model.model.\". "
      "Save the adapter with peft");
}

/// Names of original code are those of transformers, unless the adapter has them itself.
TEST_F(AdapterTest, LayersOfTheBaseAreRenamedAndSplit) {
  static constexpr LayerNames kNames[] = {{"a", {"b.q", "b.k"}}};
  const auto adapted_by = [&](const std::string& layer) {
    Checkpoint checkpoint = Checkpoint::open({write("model.safetensors", kHeader, kData)});
    const std::string file =
        write("adapter_model.safetensors",
              R"({"base_model.model.other.)" + layer +
                  R"(.lora_A.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})",
              std::string(4, '\0'));
    checkpoint.add_adapter({.weight_file = file, .layers = {}}, "base",
                           {.prefix = "other", .layers = kNames});
    return checkpoint;
  };
  const Checkpoint renamed = adapted_by("b.q");
  EXPECT_EQ(renamed.entries().at("b.q.weight").tensor.item<float>(), 1);
  EXPECT_EQ(renamed.entries().at("b.k.weight").tensor.item<float>(), -2);
  EXPECT_TRUE(renamed.entries().contains("a.bias"));  // a single row has no two parts
  EXPECT_TRUE(renamed.entries().contains("b.q.lora_A.weight"));
  EXPECT_TRUE(adapted_by("a").entries().contains("a.weight"));
}

/// Heads of other tasks in the base are ignored, but no tensor of the adapter.
TEST_F(AdapterTest, TensorsWithoutAUseAreReported) {
  const Weights all = weights(adapted(
      R"({"base_model.model.other.bias":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("base_model.model.base.a.bias":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"));
  (all / "base.a").get("bias", {1});
  (all / "base.a").get("weight", {2, 1});
  all.ignore_outside_base();
  EXPECT_EQ(message_of([&] { all.require_all_used(); }),
            "adapter_model.safetensors: other.bias: unexpected, the model has no such weight");
}

}  // namespace
}  // namespace backend
