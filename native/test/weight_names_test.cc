// Names, shapes and files of weights: error messages.
#include "checkpoint_fixture.h"

namespace backend {
namespace {

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
