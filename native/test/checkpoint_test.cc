// Weights from safetensors files: values, and error messages.
#include "checkpoint_fixture.h"

namespace backend {
namespace {

TEST_F(CheckpointTest, ReadsEveryStoredTypeAsFloat32) {
  const Weights weights = weights_of({write("model.safetensors", kHeader, kData)}) / "a";
  const at::Tensor weight = weights.get("weight", {2, 1});
  EXPECT_EQ(weight.scalar_type(), at::kFloat);
  EXPECT_EQ(weight.const_data_ptr<float>()[0], 1.0F);
  EXPECT_EQ(weight.const_data_ptr<float>()[1], -2.0F);
  EXPECT_EQ(weights.get("bias", {1}).const_data_ptr<float>()[0], 1.0F);
  EXPECT_EQ(weights.get_as_stored("weight", {2, 1}).scalar_type(), at::kHalf);
  weights.require_all_used();
}

/// The header can have any length, so the data after it may be unaligned.
TEST_F(CheckpointTest, TensorsLieAtMultiplesOfTheirSize) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[3,11]},)"
                             R"("c":{"dtype":"F64","shape":[1,1],"data_offsets":[11,19]},)"
                             R"("d":{"dtype":"F64","shape":[0,2],"data_offsets":[19,19]}})";
  const std::string data("\1\2\3\0\0\x80\x3f\0\0\0\xc0\0\0\0\0\0\0\xf8\x3f", 19);
  for (size_t spaces = 0; spaces < 8; ++spaces) {
    const std::string path = write("model.safetensors", header + std::string(spaces, ' '), data);
    const Checkpoint checkpoint = Checkpoint::open({path});
    for (const auto& [name, entry] : checkpoint.entries()) {
      const auto address = reinterpret_cast<uintptr_t>(entry.tensor.const_data_ptr());
      if (entry.tensor.numel() > 0) {
        EXPECT_EQ(address % entry.tensor.element_size(), 0U) << name << " after " << spaces;
      }
    }
    const at::Tensor& b = checkpoint.entries().at("b").tensor;
    EXPECT_EQ(b.const_data_ptr<float>()[0], 1.0F);
    EXPECT_EQ(b.const_data_ptr<float>()[1], -2.0F);
    EXPECT_EQ(checkpoint.entries().at("c").tensor.sizes(), (at::IntArrayRef{1, 1}));
    EXPECT_EQ(checkpoint.entries().at("c").tensor.const_data_ptr<double>()[0], 1.5);
    EXPECT_EQ(checkpoint.entries().at("d").tensor.sizes(), (at::IntArrayRef{0, 2}));
  }
}

TEST_F(CheckpointTest, OutlivesItsTensors) {
  at::Tensor stored;
  {
    const Checkpoint checkpoint = Checkpoint::open({write("model.safetensors", kHeader, kData)});
    stored = checkpoint.entries().at("a.bias").tensor;
    checkpoint.release_pages();
  }
  EXPECT_EQ(stored.to(at::kFloat).const_data_ptr<float>()[0], 1.0F);
}

TEST_F(CheckpointTest, NamesAMissingKey) {
  const Weights weights = weights_with({"a.weight"}, "");
  weights.get("a.weight", {1});
  (weights / "b").get("weight", {3});
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }),
            "model.safetensors: b.weight: is missing, expected a tensor of shape [3]");
}

TEST_F(CheckpointTest, NamesAllMissingKeysAndWhatStandsThereInstead) {
  const Weights weights = weights_with({"bert.old"}, "bert");
  weights.get("bert.new.weight", {2, 3});
  weights.get("bert.new.bias", {2});
  weights.get("classifier.bias", {2});
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }),
            "model.safetensors: bert.new.weight [2, 3], bert.new.bias [2], classifier.bias [2]: "
            "are missing; the file has bert.old instead");
}

TEST_F(CheckpointTest, AllocatesNothingForTheWordOfAConfiguration) {
  const Weights weights = weights_with({"a"}, "");
  constexpr int64_t kHuge = 1'099'511'627'776;
  EXPECT_EQ(message_of([&] { weights.get("weight", {kHuge, kHuge}); }),
            "model.safetensors: weight: is missing, expected a tensor of shape [1099511627776, "
            "1099511627776]; the file has a instead");
}

TEST_F(CheckpointTest, AllocatesNoMoreForWhatIsMissingThanTheFilesHold) {
  const Weights weights = weights_with({"a"}, "");
  weights.get("b", {200'000});  // 0.8 MB: small enough to report other missing keys
  EXPECT_EQ(message_of([&] { weights.get("c", {200'000}); }),
            "model.safetensors: b [200000], c [200000]: are missing; the file has a instead");
}

TEST_F(CheckpointTest, NamesAWeightThatIsNoNumber) {
  for (const auto& [type, bits] : {std::pair{"F16", std::string("\x00\x3c\x00\x7c", 4)},  // ∞
                                   std::pair{"F16", std::string("\x01\xfe\x00\x3c", 4)},
                                   std::pair{"BF16", std::string("\x00\x00\xc0\x7f", 4)},
                                   std::pair{"BF16", std::string("\x80\xff\x00\x00", 4)},
                                   std::pair{"F32", std::string("\x00\x00\xc0\x7f", 4)},
                                   std::pair{"F64", std::string("\0\0\0\0\0\0\xf0\xff", 8)}}) {
    const int64_t size = type == std::string("F64") || type == std::string("F32") ? 1 : 2;
    const auto path =
        write("model.safetensors",
              R"({"w":{"dtype":")" + std::string(type) + R"(","shape":[)" + std::to_string(size) +
                  R"(],"data_offsets":[0,)" + std::to_string(bits.size()) + "]}}",
              bits);
    EXPECT_EQ(message_of([&] { weights_of({path}).get("w", {size}); }),
              "model.safetensors: w: holds NaN or an infinity: the file is damaged, or training "
              "diverged")
        << type;
  }
}

TEST_F(CheckpointTest, TakesTheLargestNumbersAndTheSmallest) {
  const std::string data{"\xff\x7b\x01\x00\xff\xfb\x00\x80", 8};  // ±65504, 2⁻²⁴, −0
  const auto path =
      write("model.safetensors", R"({"w":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}})", data);
  EXPECT_EQ(message_of([&] { weights_of({path}).get("w", {4}); }), "no error");
}

TEST_F(CheckpointTest, RefusesAKeyThatStandsInAHeaderTwice) {
  const std::string entry = R"("a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]})";
  const auto path = write("model.safetensors", "{" + entry + "," + entry + "}", kData.substr(0, 2));
  EXPECT_EQ(message_of([&] { Checkpoint::open({path}); }),
            "model.safetensors: tensor `a`: repeated key");
}

}  // namespace
}  // namespace backend
