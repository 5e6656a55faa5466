// Weights from safetensors files: what is read, and what is said when it cannot be.
#include "checkpoint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "backend/model_config.h"
#include "pickle_reader.h"
#include "weights.h"

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

  /// header: the JSON of a safetensors file; data: what follows it.
  std::string write(const std::string& name, const std::string& header, const std::string& data) {
    const std::string path = (folder_ / name).string();
    std::ofstream file(path, std::ios::binary);
    const uint64_t size = header.size();
    for (unsigned byte = 0; byte < 8; ++byte) file.put(static_cast<char>(size >> (8U * byte)));
    file << header << data;
    return path;
  }

  /// The message of the LoadError that the call throws.
  template <typename Call>
  std::string message_of(Call call) {
    try {
      call();
    } catch (const LoadError& error) {
      return error.what();
    }
    return "no error";
  }

  static Weights weights_of(const std::vector<std::string>& paths) {
    return Weights(std::make_shared<const Checkpoint>(Checkpoint::open(paths)));
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
  const Weights weights = weights_of({write("model.safetensors", kHeader, kData)});
  EXPECT_EQ(message_of([&] { (weights / "b").get("weight", {3}); }),
            "model.safetensors: b.weight: is missing, expected a tensor of shape [3]");
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
            "one.safetensors: a.weight: stands in more than one file");
}

TEST_F(CheckpointTest, RefusesATypeThatIsNoWeight) {
  const auto path =
      write("model.safetensors", R"({"q":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x");
  EXPECT_NE(message_of([&] {
              Checkpoint::open({path});
            }).find("model.safetensors: q: type U8 is not supported"),
            std::string::npos);
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
           std::pair{kHeader, kData.substr(0, 5)},           // cut short
           std::pair{kHeader, kData + "x"},                  // something behind the last tensor
           std::pair{kHeader.substr(0, 40), std::string()},  // header cut
           std::pair{std::string("[]"), std::string()},      // no object
       }) {
    const auto path = write(file, header, data);
    EXPECT_EQ(message_of([&] { Checkpoint::open({path}); }).substr(0, file.size() + 2), file + ": ")
        << header;
  }
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

TEST_F(CheckpointTest, RefusesTheLengthsThatAStackMachineCouldBeFooledWith) {
  const StorageLoader none = [](const std::string&, at::ScalarType, int64_t) -> at::Tensor {
    throw LoadError("no storage");
  };
  for (const std::string& pickle : {
           std::string(),                      // nothing at all
           std::string("."),                   // ends with an empty stack
           std::string("u."),                  // a container operation without a mark
           std::string("X\xff\xff\xff\xff."),  // a text longer than the file
           std::string("\x87."),               // a tuple of what is not there
           std::string("cposix\nsystem\n."),   // a function
           std::string("cposix"),              // a name without its end
       }) {
    EXPECT_NE(message_of([&] { read_pickle(pickle, none); }), "no error");
  }
}

}  // namespace
}  // namespace backend
