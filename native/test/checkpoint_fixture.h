// Checkpoints in a temporary folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "common/error.h"

namespace backend {

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

}  // namespace backend
