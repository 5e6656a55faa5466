// Weights from safetensors files: values, and error messages.
#include "checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint/weights.h"
#include "common/error.h"

namespace backend {
namespace {

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("checkpoint_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  ~CheckpointTest() override { std::filesystem::remove_all(folder_); }

  /// header: JSON of a safetensors file. data: the bytes after it.
  std::string write(const std::string& name, const std::string& header, const std::string& data) {
    const std::string path = (folder_ / name).string();
    std::ofstream file(path, std::ios::binary);
    const uint64_t size = header.size();
    for (unsigned byte = 0; byte < 8; ++byte) file.put(static_cast<char>(size >> (8U * byte)));
    file << header << data;
    return path;
  }

  std::string write_plain(const std::string& name, const std::string& content) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  /// Message of the LoadError that the call throws.
  template <typename Call>
  std::string message_of(Call call) {
    try {
      call();
    } catch (const common::LoadError& error) {
      return error.what();
    }
    return "no error";
  }

  static Weights weights_of(const std::vector<std::string>& paths,
                            const std::string& base_prefix = "") {
    return Weights(std::make_shared<const Checkpoint>(Checkpoint::open(paths)), base_prefix);
  }

  /// A file with a float16 tensor of shape [1] and value 1 for each key.
  Weights weights_with(const std::vector<std::string>& keys, const std::string& base_prefix) {
    std::string header, data;
    for (const auto& key : keys) {
      const std::string begin = std::to_string(data.size());
      data += kData.substr(0, 2);
      header += header.empty() ? "{\"" : ",\"";
      header += key;
      header += R"(":{"dtype":"F16","shape":[1],"data_offsets":[)";
      header += begin;
      header += ',';
      header += std::to_string(data.size());
      header += "]}";
    }
    return weights_of({write("model.safetensors", header + "}", data)}, base_prefix);
  }

  const std::string kHeader = R"({"a.weight":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]},)"
                              R"("a.bias":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]}})";
  const std::string kData{"\x00\x3c\x00\xc0\x80\x3f", 6};  // 1, -2 in float16; 1 in bfloat16

 private:
  std::filesystem::path folder_;
};

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

TEST_F(CheckpointTest, AddsAndStripsTheNameOfTheBaseModel) {
  // Saved from the base model next to a head, and a head saved inside the base model.
  const Weights weights = weights_with({"layer.weight", "bert.classifier.weight"}, "bert");
  weights.get("bert.layer.weight", {1});
  weights.get("classifier.weight", {1});
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }), "no error");
}

TEST_F(CheckpointTest, SaysThatThereIsNoTrainedHead) {
  const Weights weights = weights_with({"layer.weight"}, "bert");
  weights.get("bert.layer.weight", {1});
  weights.get("classifier.weight", {2, 1});
  weights.get("classifier.bias", {2});
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }),
            "model.safetensors: classifier.weight [2, 1], classifier.bias [2]: are missing; the "
            "file holds no trained classification head");
}

TEST_F(CheckpointTest, SaysThatTheModelWasSavedWithItsWrapper) {
  const Weights weights = weights_with({"module.bert.a", "module.classifier.b"}, "bert");
  weights.get("bert.a", {1});
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }),
            "model.safetensors: bert.a: is missing, expected a tensor of shape [1]; every key "
            "begins with \"module.\": save the model inside the wrapper instead");
}

TEST_F(CheckpointTest, LeavesWhatIsKnownToBeOfNoUse) {
  const Weights weights = weights_with(
      {"a", "bert.embeddings.position_ids", "embeddings.token_type_ids", "cls.predictions.bias",
       "lm_head.dense.weight", "bert.pooler.dense.bias", "pooler.dense.weight",
       "vocab_projector.bias", "discriminator_predictions.dense.bias"},
      "bert");
  weights.get("a", {1});
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }), "no error");
}

TEST_F(CheckpointTest, LeavesNothingThatOnlySoundsAlike) {
  const Weights weights = weights_with({"a.lm_head.b", "classifier.position_id", "pooler_x"}, "a2");
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }),
            "model.safetensors: a.lm_head.b, classifier.position_id, pooler_x: unexpected, the "
            "model has no such weight");
}

TEST_F(CheckpointTest, NamesAWrongShape) {
  const Weights weights = weights_of({write("model.safetensors", kHeader, kData)});
  EXPECT_EQ(message_of([&] { weights.get("a.weight", {2, 3}); }),
            "model.safetensors: a.weight: has shape [2, 1], expected [2, 3]");
}

TEST_F(CheckpointTest, NamesUnexpectedKeys) {
  const Weights weights = weights_of({write("model.safetensors", kHeader, kData)});
  weights.get("a.weight", {2, 1});
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }),
            "model.safetensors: a.bias: unexpected, the model has no such weight");
  weights.ignore("a.bias");
  EXPECT_EQ(message_of([&] { weights.require_all_used(); }), "no error");
}

TEST_F(CheckpointTest, RefusesAKeyThatStandsInTwoShards) {
  const auto one = write("one.safetensors", kHeader, kData);
  const auto two = write("two.safetensors", kHeader, kData);
  EXPECT_EQ(message_of([&] { Checkpoint::open({one, two}); }),
            "one.safetensors: a.weight: is duplicated in this file or in another shard");
}

TEST_F(CheckpointTest, RefusesATypeThatIsNoWeightWhereOneIsNeeded) {
  for (const std::string type : {"U8", "F8_E4M3"}) {
    const auto path =
        write("model.safetensors",
              R"({"q":{"dtype":")" + type + R"(","shape":[1],"data_offsets":[0,1]}})", "x");
    const Weights weights = weights_of({path});
    EXPECT_EQ(
        message_of([&] { weights.get("q", {1}); }),
        "model.safetensors: q: type " + type + " is not supported (F32, F16, BF16 or F64 is)");
    weights.ignore("q");
    EXPECT_EQ(message_of([&] { weights.require_all_used(); }), "no error");
  }
}

TEST_F(CheckpointTest, SaysThatAFileIsAGitLfsPointer) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\n";
  for (const std::string name : {"model.safetensors", "pytorch_model.bin"}) {
    const auto path = write_plain(name, pointer);
    EXPECT_EQ(message_of([&] { Checkpoint::open({path}); }),
              name + ": is a Git LFS pointer, not the file itself: fetch it with git lfs pull");
  }
}

TEST_F(CheckpointTest, ReadsOldLayerNormNames) {
  const Weights weights =
      weights_of({write("model.safetensors",
                        R"({"x.LayerNorm.gamma":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},)"
                        R"("x.LayerNorm.beta":{"dtype":"F16","shape":[1],"data_offsets":[2,4]}})",
                        kData.substr(0, 4))});
  EXPECT_EQ(weights.get("x.LayerNorm.weight", {1}).const_data_ptr<float>()[0], 1.0F);
  EXPECT_EQ(weights.get("x.LayerNorm.bias", {1}).const_data_ptr<float>()[0], -2.0F);
}

TEST_F(CheckpointTest, NamesTheFileThatIsDamaged) {
  const std::string file = "model.safetensors";
  for (const auto& [header, data] : {
           std::pair{kHeader, kData.substr(0, 5)},           // truncated
           std::pair{kHeader, kData + "x"},                  // bytes after the last tensor
           std::pair{kHeader.substr(0, 40), std::string()},  // truncated header
           std::pair{std::string("[]"), std::string()},      // not an object
       }) {
    const auto path = write(file, header, data);
    EXPECT_EQ(message_of([&] { Checkpoint::open({path}); }).substr(0, file.size() + 2), file + ": ")
        << header;
  }
}

TEST_F(CheckpointTest, NamesAnEmptyTensorOfAnImpossibleShape) {
  const auto path =
      write("model.safetensors",
            R"({"w":{"dtype":"F32","shape":[0,4611686018427387904,8],"data_offsets":[0,0]}})", "");
  EXPECT_EQ(message_of([&] { Checkpoint::open({path}); }),
            "model.safetensors: tensor `w`: shape: too large");
}

TEST_F(CheckpointTest, NamesAFileThatCannotBeRead) {
  EXPECT_EQ(message_of([] { Checkpoint::open({"/nowhere/model.safetensors"}); }),
            "model.safetensors: cannot be opened: No such file or directory");
  EXPECT_EQ(message_of([] { Checkpoint::open({"/tmp/.safetensors/"}); }).find("/tmp"),
            std::string::npos);
  const auto empty = write("empty.safetensors", "", "");
  std::filesystem::resize_file(empty, 0);
  EXPECT_EQ(message_of([&] { Checkpoint::open({empty}); }), "empty.safetensors: is empty");
}

TEST_F(CheckpointTest, NamesABinFileThatIsNoCheckpoint) {
  const auto path = write("pytorch_model.bin", "not a zip archive", "");
  EXPECT_EQ(message_of([&] { Checkpoint::open({path}); }).substr(0, 55),
            "pytorch_model.bin: is not a readable PyTorch checkpoint");
}

}  // namespace
}  // namespace backend
