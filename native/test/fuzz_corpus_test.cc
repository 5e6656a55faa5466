// Runs the fuzz targets on the corpus: inputs with high coverage, and all inputs that failed
// before.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "targets/targets.h"

namespace {

struct Kept {
  const char* name;
  fuzz::Target target;
};

class FuzzCorpusTest : public testing::TestWithParam<Kept> {};

TEST_P(FuzzCorpusTest, KeptInputsBreakNoPromise) {
  size_t count = 0;
  const auto folder = std::filesystem::path(FUZZ_CORPUS) / GetParam().name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ostringstream content;
    content << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    SCOPED_TRACE(entry.path().filename().string());
    GetParam().target(content.str());
    ++count;
  }
  EXPECT_GT(count, 10U);
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpusTest,
                         testing::Values(Kept{"checkpoint", fuzz::checkpoint},
                                         Kept{"exported", fuzz::exported},
                                         Kept{"model_config", fuzz::model_config},
                                         Kept{"pickle", fuzz::pickle},
                                         Kept{"torch_save", fuzz::torch_save},
                                         Kept{"torchscript_archive", fuzz::torchscript_archive}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
