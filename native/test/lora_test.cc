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

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint_fixture.h"
#include "encoder/nn/task_rows.h"

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
  const std::vector<LoraUpdate::Part> parts_{{5, {}}, {7, {second_}}, {6, {third_}}};
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
  const std::vector<LoraUpdate::Part> parts{{5, {}}, {7, {}}};
  EXPECT_EQ(LoraUpdate::make(parts), nullptr);
}

/// Sequences of 3, 1, 2 and 1 tokens. Their order in the batch: no task, task 0, task 1 twice.
class TaskUpdateTest : public testing::Test {
 protected:
  static Sequence sequence(size_t length, std::optional<int64_t> task) {
    Sequence one{.input_ids = std::vector<int64_t>(length, 1),
                 .token_type_ids = std::vector<int64_t>(length, 0),
                 .samples = {}};
    one.adapter_task = task;
    return one;
  }

  static LoraFactors factors(int64_t task) {
    return {.down = at::randn({2, kInputs}),
            .up = at::randn({kOutputs, 2}),
            .task = std::optional(task)};
  }

  /// y with the update of a task in these rows.
  void expect_update(const at::Tensor& y, const LoraFactors& of_task, int64_t first,
                     int64_t count) const {
    const at::Tensor x = x_.narrow(0, first, count);
    EXPECT_TRUE(at::allclose(y.narrow(0, first, count),
                             at::matmul(at::matmul(x, of_task.down.t()), of_task.up.t()), 1e-5,
                             1e-5));
  }

  const c10::InferenceMode inference_mode_;
  const LoraFactors first_ = factors(0), second_ = factors(1);
  const std::vector<LoraUpdate::Part> parts_{{kOutputs, {first_, second_}}};
  const std::shared_ptr<const LoraUpdate> update_ = LoraUpdate::make(parts_);
  const std::vector<Sequence> sequences_{sequence(3, 1), sequence(1, 0), sequence(2, std::nullopt),
                                         sequence(1, 1)};
  const std::vector<const Sequence*> batch_{&sequences_[0], &sequences_[1], &sequences_[2],
                                            &sequences_[3]};
  const at::Tensor x_ = at::randn({7, kInputs});
};

TEST_F(TaskUpdateTest, EachRowHasTheUpdateOfItsTask) {
  const PackedBatch packed(batch_);
  EXPECT_EQ(packed.order, (std::vector<size_t>{2, 1, 3, 0}));
  EXPECT_EQ(packed.max_length(), 3);
  const ScopedTasks tasks(packed);
  const at::Tensor by_token = at::zeros({7, kOutputs});
  update_->add_to(by_token, x_, 0);
  EXPECT_TRUE(at::equal(by_token.narrow(0, 0, 2), at::zeros({2, kOutputs})));
  expect_update(by_token, first_, 2, 1);
  expect_update(by_token, second_, 3, 4);
  const at::Tensor by_sequence = at::zeros({4, kOutputs});
  update_->add_to(by_sequence, x_.narrow(0, 0, 4), 0);
  EXPECT_TRUE(at::equal(by_sequence[0], at::zeros({kOutputs})));
  expect_update(by_sequence, first_, 1, 1);
  expect_update(by_sequence, second_, 2, 2);
}

TEST_F(TaskUpdateTest, RowsAreBitwiseIdenticalAlone) {
  const PackedBatch packed(batch_);
  at::Tensor all = at::zeros({7, kOutputs});
  {
    const ScopedTasks tasks(packed);
    update_->add_to(all, x_, 0);
  }
  const Sequence* const alone[] = {&sequences_[0]};
  const PackedBatch of_one(alone);
  const ScopedTasks tasks(of_one);
  at::Tensor one = at::zeros({3, kOutputs});
  update_->add_to(one, x_.narrow(0, 4, 3), 0);
  EXPECT_TRUE(at::equal(one, all.narrow(0, 4, 3)));
}

TEST_F(TaskUpdateTest, OtherRowsThanThoseOfTheBatchAreAnError) {
  const PackedBatch packed(batch_);
  const ScopedTasks tasks(packed);
  EXPECT_THROW(update_->add_to(at::zeros({5, kOutputs}), x_.narrow(0, 0, 5), 0), std::logic_error);
}

TEST_F(TaskUpdateTest, WithoutTasksThereIsNoUpdate) {
  const Sequence* const alone[] = {&sequences_[2]};
  const PackedBatch packed(alone);
  EXPECT_TRUE(packed.tasks.empty());
  const ScopedTasks tasks(packed);
  const at::Tensor y = at::zeros({2, kOutputs});
  update_->add_to(y, x_.narrow(0, 0, 2), 0);
  EXPECT_TRUE(at::equal(y, at::zeros({2, kOutputs})));
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
  ASSERT_EQ(factors.size(), 1);
  EXPECT_EQ(factors[0].down.item<float>(), 3);
  EXPECT_EQ(factors[0].up.item<float>(), 1.5);
  EXPECT_FALSE(factors[0].task);
  EXPECT_TRUE(layer.lora_embedding_factors(1, 1).empty());
}

/// A layer a of 1 input and 1 output, with factors of two tasks.
TEST_F(AdapterTest, FactorsOfTasksAreRead) {
  const std::string place = R"("base.a.parametrizations.weight.)";
  Checkpoint checkpoint = Checkpoint::open(
      {write("model.safetensors",
             "{" + place + R"(original":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},)" +
                 place + R"(0.lora_A":{"dtype":"F32","shape":[2,1,1],"data_offsets":[4,12]},)" +
                 place + R"(0.lora_B":{"dtype":"F32","shape":[2,1,1],"data_offsets":[12,20]}})",
             std::string("\x00\x00\x40\x40\x00\x00\x80\x3f\x00\x00\x00\x40"  // 3, 1, 2
                         "\x00\x00\x00\x40\x00\x00\x80\x40",                 // 2, 4
                         20))});
  checkpoint.set_task_adapters({.tasks = 2, .rank = 1, .scale = 0.5, .default_task = {}});
  const Weights all = weights(std::move(checkpoint));
  EXPECT_EQ((all / "base.a").get("weight", {1, 1}).item<float>(), 3);
  const auto factors = (all / "base.a").lora_factors(1, 1);
  ASSERT_EQ(factors.size(), 2);
  for (const int64_t task : {0, 1}) {
    const LoraFactors& one = factors[static_cast<size_t>(task)];
    EXPECT_EQ(one.task, task);
    EXPECT_EQ(one.down.item<float>(), static_cast<float>(task + 1));
    EXPECT_EQ(one.up.item<float>(), static_cast<float>(task + 1));
  }
  const auto of_table = (all / "base.a").lora_embedding_factors(1, 1);
  ASSERT_EQ(of_table.size(), 2);
  EXPECT_EQ(of_table[1].up.item<float>(), 2);
  all.require_all_used();
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
