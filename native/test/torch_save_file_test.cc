// Files of torch.save in both formats: values, and LoadErrors for damaged files.
// test/parity/archives.py writes the files.
#include "checkpoint/torch_save_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/files/pickle_reader.h"

namespace backend {
namespace {

std::filesystem::path archives() { return std::filesystem::path(FIXTURES) / "archives"; }

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

/// float32 values, row by row.
std::vector<float> values(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kFloat).contiguous();
  const auto* data = plain.const_data_ptr<float>();
  return {data, data + plain.numel()};
}

/// Message of the LoadError for these bytes; empty if they can be read. Other exceptions fail the
/// test.
std::string problem_of(const std::string& bytes) {
  // A separate file for each process, because it is memory-mapped.
  const auto folder = std::filesystem::path(testing::TempDir()) / std::to_string(getpid());
  std::filesystem::create_directories(folder);
  const auto path = folder / "damaged.bin";
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    read_torch_save(path.string());
  } catch (const common::LoadError& error) {
    return error.what();
  }
  return "";
}

class TorchSaveFileTest : public testing::TestWithParam<const char*> {
 protected:
  std::filesystem::path path() const { return archives() / GetParam(); }
};

TEST_P(TorchSaveFileTest, ReadsViewsAndEveryType) {
  const auto tensors = read_torch_save(path().string());
  ASSERT_EQ(tensors.size(), 13U);
  const at::Tensor& flat = tensors.at("flat");
  EXPECT_EQ(values(flat).at(23), 23.0F);
  EXPECT_TRUE(tensors.at("rows").is_alias_of(flat)) << "one storage, read once";
  EXPECT_EQ(values(tensors.at("rows")).at(11), 15.0F);
  EXPECT_EQ(tensors.at("transposed").sizes(), at::IntArrayRef({4, 3}));
  EXPECT_EQ(values(tensors.at("transposed")).at(1), 8.0F);
  EXPECT_EQ(values(tensors.at("column")), (std::vector<float>{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ(values(tensors.at("expanded")), std::vector<float>(6, 5.0F));
  EXPECT_EQ(tensors.at("half").scalar_type(), at::kHalf);
  EXPECT_EQ(values(tensors.at("half")), (std::vector<float>{1.0F, -2.5F}));
  EXPECT_EQ(tensors.at("bfloat16").scalar_type(), at::kBFloat16);
  EXPECT_EQ(values(tensors.at("bfloat16")), (std::vector<float>{0.5F, 3.0F}));
  EXPECT_EQ(values(tensors.at("double")), (std::vector<float>{1.0F, 0.1F}));
  EXPECT_EQ(values(tensors.at("parameter")), std::vector<float>{7.0F});
  EXPECT_EQ(tensors.at("scalar").dim(), 0);
  EXPECT_EQ(tensors.at("empty").sizes(), at::IntArrayRef({0, 3}));
  EXPECT_EQ(tensors.at("position_ids").scalar_type(), at::kLong);
  EXPECT_EQ(tensors.at("mask").scalar_type(), at::kBool);
}

TEST_P(TorchSaveFileTest, NamesAFileThatEndsTooEarlyWhereverItEnds) {
  const std::string whole = content_of(path());
  ASSERT_EQ(problem_of(whole), "");
  const bool zip = whole.starts_with("PK");
  // The directory is at the end of an archive, so the truncation point makes little difference.
  for (size_t size = 0; size < whole.size(); size += zip ? 97 : 1) {
    EXPECT_EQ(problem_of(whole.substr(0, size)).find("damaged.bin: "), 0U) << size;
  }
}

TEST_P(TorchSaveFileTest, SurvivesDamagedBytes) {
  const std::string whole = content_of(path());
  std::mt19937 generator(7);
  const size_t rounds = whole.starts_with("PK") ? 300 : 3000;
  size_t refused = 0;
  for (size_t round = 0; round < rounds; ++round) {
    std::string damaged = whole;
    for (size_t flips = 1 + round % 3; flips > 0; --flips) {
      damaged[generator() % damaged.size()] = static_cast<char>(generator());
    }
    const std::string problem = problem_of(damaged);
    refused += problem.empty() ? 0 : 1;
    EXPECT_TRUE(problem.empty() || problem.starts_with("damaged.bin: ")) << problem;
  }
  EXPECT_GT(refused, rounds / 10);
}

INSTANTIATE_TEST_SUITE_P(Files, TorchSaveFileTest,
                         testing::Values("varied-zip.bin", "varied-zip-protocol-4.bin",
                                         "varied-legacy.bin", "varied-legacy-protocol-4.bin"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

TEST(TorchSaveFile, NamesWhatAStateDictHasNoUseFor) {
  const auto problem = [](const char* name) { return problem_of(content_of(archives() / name)); };
  EXPECT_EQ(problem("runs-code.bin"),
            "damaged.bin: refers to posix.mkdir, which is not allowed in a state_dict");
  EXPECT_EQ(problem("list.bin"), "damaged.bin: contains no dictionary of tensors");
  EXPECT_EQ(problem("training-checkpoint.bin"),
            "damaged.bin: epoch: is not a tensor, expected a state_dict");
}

TEST(TorchSaveFile, NamesAStorageThatIsShorterThanItsTensors) {
  std::string legacy = content_of(archives() / "varied-legacy.bin");
  // The tensor "flat", 24 elements: the tuple of its size becomes (25,).
  const size_t flat = legacy.find("K\x18\x85", legacy.find("flat"));
  ASSERT_NE(flat, std::string::npos);
  legacy[flat + 1] = 25;
  EXPECT_EQ(problem_of(legacy), "damaged.bin: flat: has a shape that does not fit its storage");
}

TEST(TorchSaveFile, NamesAnArchiveWhoseRecordsLieOverOneAnother) {
  const std::string bytes =
      content_of(std::filesystem::path(FUZZ_CORPUS) / "torch_save" / "overlapping-records");
  EXPECT_NE(problem_of(bytes).find("its records are larger than the file"), std::string::npos);
}

TEST(Pickle, RefusesWhatAStackMachineCouldBeFooledWith) {
  for (const std::string& text : {
           std::string(),                      // empty
           std::string("."),                   // ends with an empty stack
           std::string("u."),                  // a container operation without a mark
           std::string("X\xff\xff\xff\xff."),  // a text longer than the file
           std::string("\x87."),               // a tuple from an empty stack
           std::string("cposix\nsystem\n."),   // a function
           std::string("cposix"),              // an incomplete name
           std::string(5'000'000, '}'),        // more instructions than any checkpoint
       }) {
    std::string_view bytes = text;
    EXPECT_THROW(common::Pickle{bytes}, common::LoadError) << text.substr(0, 20);
  }
}

/// 64 sizes in the memo, and tensors that use them as shape, for five bytes each.
TEST(Pickle, RefusesAShapeThatIsTakenFromTheMemoAgainAndAgain) {
  std::string text =
      "ctorch._utils\n_rebuild_tensor_v2\nq\x01("
      "(U\x07storagectorch\nFloatStorage\nU\x01kU\x01zK\x01tQq\x02(";
  for (int i = 0; i < 64; ++i) text += "K\x01";
  text += "tq\x03(h\x02K\x01h\x03h\x03tq\x04";
  for (int i = 0; i < 200'000; ++i) text += "h\x01h\x04R";
  text += "t.";
  std::string_view bytes = text;
  EXPECT_THROW(common::Pickle{bytes}, common::LoadError);
}

TEST(Pickle, TakesAnyDepthAndACycle) {
  const std::string deep = std::string(500'000, ']') + std::string(499'999, 'a') + ".";
  std::string_view bytes = deep;
  EXPECT_NO_THROW(common::Pickle{bytes});
  bytes =
      "]q\x01h\x01"
      "a.";  // a list that contains itself
  EXPECT_NO_THROW(common::Pickle{bytes});
  EXPECT_TRUE(bytes.empty());
}

TEST(Pickle, ReadsAnOrderedDictOfPython2) {
  std::string_view bytes =
      "\x80\x02"
      "ccollections\nOrderedDict\n](](U\x01"
      "aK\x05"
      "ee\x85R.";
  const common::Pickle pickle(bytes);
  const common::PickleItems& items = *std::get<common::PickleDict>(pickle.value()).items;
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(*std::get<const std::string*>(items[0]), "a");
  EXPECT_EQ(std::get<int64_t>(items[1]), 5);
}

}  // namespace
}  // namespace backend
