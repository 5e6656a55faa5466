#include "checkpoint/checkpoint.h"

#include <cstring>
#include <memory>

#include "checkpoint/weights.h"
#include "common/error.h"
#include "targets.h"
#include "tensors.h"

namespace fuzz {
namespace {

void read(const std::string& path) {
  const auto checkpoint =
      std::make_shared<const backend::Checkpoint>(backend::Checkpoint::open({path}));
  const backend::Weights weights(checkpoint, "bert");
  for (const auto& [name, entry] : checkpoint->entries()) {
    if (entry.tensor.defined()) require_inside(entry.tensor);
    weights.ignore(name);
  }
  checkpoint->release_pages();
  (weights / "bert" / "pooler").get("weight", {2, 2});
  (weights / "classifier").get("bias", {2});
  weights.require_all_used();
}

}  // namespace

void checkpoint(std::string_view input) {
  if (input.empty()) return;
  const bool safetensors = input.front() == 's';
  const std::string name = safetensors ? "model.safetensors" : "model.bin";
  const std::string path = written(input.substr(1), name);
  try {
    read(path);
  } catch (const common::LoadError& error) {
    // An error of a file without tensors contains the missing key instead.
    const bool named = std::strncmp(error.what(), (name + ": ").c_str(), name.size() + 2) == 0;
    require(named || std::strncmp(error.what(), "weights: ", 9) == 0, "a message naming the file");
  }
}

}  // namespace fuzz
