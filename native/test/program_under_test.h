// Programs with a chosen signature and output, which record their inputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "programs/program.h"

namespace test {

inline constexpr backend::DimRange kAny{.min = 2};

inline backend::DimRange exactly(int64_t size) { return {.min = size, .max = size}; }

/// Inputs of the runs, in order of their start.
using Runs = std::vector<std::vector<at::Tensor>>;

class ProgramUnderTest final : public backend::Program {
 public:
  using Forward = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

  ProgramUnderTest(std::vector<backend::ProgramInput> inputs, Forward forward,
                   std::shared_ptr<Runs> runs)
      : inputs_(std::move(inputs)), forward_(std::move(forward)), runs_(std::move(runs)) {}

  std::string kind() const override { return "under test"; }
  const std::vector<backend::ProgramInput>& inputs() const override { return inputs_; }
  void prepare_thread() const override {}
  c10::IValue run(std::vector<c10::IValue> inputs) const override {
    std::vector<at::Tensor> tensors;
    tensors.reserve(inputs.size());
    for (const c10::IValue& input : inputs) tensors.push_back(input.toTensor());
    {
      const std::scoped_lock lock(mutex_);
      runs_->push_back(tensors);
    }
    return forward_(tensors);
  }

 private:
  std::vector<backend::ProgramInput> inputs_;
  Forward forward_;
  std::shared_ptr<Runs> runs_;
  mutable std::mutex mutex_;
};

/// Message of the exception that `call` throws.
template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace test
