// A TorchScript model over windows of a signal.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "backend/backends.h"
#include "mapped_file.h"
#include "runtime.h"
#include "torchscript_archive.h"

namespace backend {
namespace {

/// The one tensor of a model's output: itself, or alone in a tuple, a list or a dictionary.
at::Tensor single_tensor(const c10::IValue& output) {
  if (output.isTensor()) return output.toTensor();
  std::vector<at::Tensor> tensors;
  if (output.isTuple()) {
    for (const auto& element : output.toTupleRef().elements()) {
      if (element.isTensor()) tensors.push_back(element.toTensor());
    }
  } else if (output.isTensorList()) {
    tensors = output.toTensorVector();
  } else if (output.isGenericDict()) {
    for (const auto& entry : output.toGenericDict()) {
      if (entry.value().isTensor()) tensors.push_back(entry.value().toTensor());
    }
  }
  if (tensors.size() != 1) {
    throw engine::BackendError("the model's output is not one tensor");
  }
  return tensors.front();
}

std::vector<double> softmax(const engine::Logits& logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> exponentials;
  exponentials.reserve(logits.size());
  double sum = 0;
  for (const float logit : logits) sum += exponentials.emplace_back(std::exp(logit - highest));
  for (double& exponential : exponentials) exponential /= sum;
  return exponentials;
}

class TorchScriptBackend final : public engine::Backend {
 public:
  TorchScriptBackend(const TorchScriptSource& source, const ComputeOptions& compute)
      : source_(source), threads_(compute.threads_per_worker), module_(load(source.path)) {
    batching_ = answers_alike_in_batches();
  }

  engine::Description description() const override {
    return {.backend = "torchscript",
            .max_length = source_.window_length,
            .num_outputs = source_.num_outputs,
            .batching = batching_,
            .needs_preparation = false};
  }

  engine::Sequence prepare(engine::Input input) const override {
    engine::Sequence sequence;
    sequence.samples = std::get<std::vector<float>>(std::move(input));
    if (sequence.samples.size() != source_.window_length) {
      throw engine::BackendError("expected " + std::to_string(source_.window_length) +
                                 " samples, received " + std::to_string(sequence.samples.size()));
    }
    return sequence;
  }

  void prepare_thread() override {
    set_intra_op_threads(threads_);
    const engine::Sequence zeros = prepare(std::vector<float>(source_.window_length));
    const engine::Sequence* batch[] = {&zeros};
    try {
      run(batch);
    } catch (const engine::BackendError&) {
      // The model does not take zeros. Whether it takes a request's signal, that request is told.
    }
  }

  std::vector<engine::Logits> run(engine::Batch batch) override {
    try {
      const c10::InferenceMode inference_mode;
      // A frozen graph gains nothing from the optimizing executor, whose first runs take long.
      const torch::jit::GraphOptimizerEnabledGuard no_optimizer(false);
      const auto windows = static_cast<int64_t>(batch.size());
      at::Tensor input =
          at::empty({windows, 1, static_cast<int64_t>(source_.window_length)}, at::kFloat);
      auto* data = input.mutable_data_ptr<float>();
      for (const auto* const sequence : batch)
        data = std::ranges::copy(sequence->samples, data).out;
      return rows_of(single_tensor(module_.forward({std::move(input)})), windows);
    } catch (const engine::BackendError&) {
      throw;
    } catch (...) {
      throw engine::BackendError(message_of_current_exception());
    }
  }

 private:
  static torch::jit::Module load(const std::string& path) {
    const std::string file = MappedFile(path).name();  // says plainly when it cannot be read
    require_harmless_archive(path);
    // A model must not print what it is given.
    torch::jit::setPrintHandler([](const std::string&) {});
    torch::jit::Module module = [&] {
      try {
        return torch::jit::load(path, at::kCPU);
      } catch (...) {
        throw LoadError(file + ": cannot be loaded: " + message_of_current_exception());
      }
    }();
    module.eval();
    if (!module.find_method("forward")) throw LoadError(file + ": has no method forward");
    require_harmless_operators(module, file);
    try {
      return torch::jit::freeze(module);
    } catch (...) {
      return module;  // some scripts cannot be frozen: they run as they are, only slower
    }
  }

  std::vector<engine::Logits> rows_of(const at::Tensor& output, int64_t windows) const {
    const auto columns = static_cast<int64_t>(source_.num_outputs);
    if (output.numel() != windows * columns) {
      throw engine::BackendError("the model gave " + std::to_string(output.numel()) +
                                 " numbers for " + std::to_string(windows) +
                                 " window(s), expected " + std::to_string(columns) + " for each");
    }
    const at::Tensor logits = output.to(at::kFloat).contiguous();
    const auto* row = logits.const_data_ptr<float>();
    std::vector<engine::Logits> results;
    for (int64_t i = 0; i < windows; ++i, row += columns) results.emplace_back(row, row + columns);
    return results;
  }

  /// Whether windows answer the same in a batch as alone: nothing in a TorchScript file promises it
  /// (a model may normalize over its batch, or only take batches of one).
  bool answers_alike_in_batches() {
    const std::vector<engine::Sequence> windows = probe_windows();
    std::vector<const engine::Sequence*> batch(windows.size());
    std::vector<engine::Logits> alone(windows.size());
    try {
      for (size_t i = 0; i < windows.size(); ++i) {
        batch[i] = &windows[i];
        alone[i] = run({&batch[i], 1}).front();
      }
      for (const size_t size : {size_t{2}, size_t{3}, batch.size()}) {
        const auto together = run(engine::Batch(batch).first(size));
        for (size_t i = 0; i < size; ++i) {
          if (!alike(alone[i], together[i])) return false;
        }
      }
      return true;
    } catch (const engine::BackendError&) {
      return false;
    }
  }

  /// In probability: how far apart logits may be depends on their size.
  static bool alike(const engine::Logits& a, const engine::Logits& b) {
    constexpr double kTolerance = 1e-5;
    const std::vector<double> left = softmax(a);
    const std::vector<double> right = softmax(b);
    for (size_t i = 0; i < left.size(); ++i) {
      if (!(std::abs(left[i] - right[i]) <= kTolerance)) return false;  // also when one is NaN
    }
    return true;
  }

  /// Seeded noise of different strengths, and one constant window (all zeros).
  std::vector<engine::Sequence> probe_windows() const {
    constexpr size_t kWindows = 16;
    std::mt19937 generator(20);
    std::vector<engine::Sequence> windows(kWindows);
    for (size_t i = 0; i < kWindows; ++i) {
      std::normal_distribution<float> noise(0.0F, i == 0 ? 1e-9F : 1.0F);
      windows[i].samples.resize(source_.window_length);
      for (float& sample : windows[i].samples) sample = noise(generator);
    }
    windows[1].samples.assign(source_.window_length, 0.0F);
    return windows;
  }

  TorchScriptSource source_;
  int threads_;
  torch::jit::Module module_;
  bool batching_ = false;
};

}  // namespace

std::shared_ptr<engine::Backend> load_torchscript(const TorchScriptSource& source,
                                                  const ComputeOptions& compute) {
  set_intra_op_threads(compute.threads_per_worker);
  return std::make_shared<TorchScriptBackend>(source, compute);
}

}  // namespace backend
