// A TorchScript model over windows of a signal.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "backend/backends.h"
#include "runtime/runtime.h"
#include "torchscript/module.h"
#include "torchscript/run_limit.h"

namespace backend {
namespace {

/// Bounds what a batch of long windows takes of memory: 1,024 windows of 256, one of a million.
constexpr size_t kSamplesPerRun = 262'144;

std::vector<double> softmax(const engine::Logits& logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> exponentials;
  exponentials.reserve(logits.size());
  double sum = 0;
  for (const float logit : logits) sum += exponentials.emplace_back(std::exp(logit - highest));
  for (double& exponential : exponentials) exponential /= sum;
  return exponentials;
}

bool all_finite(const engine::Logits& logits) {
  return std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
}

template <typename Values>
bool close(const Values& a, const Values& b) {
  constexpr double kTolerance = 1e-5;
  return std::ranges::equal(
      a, b, [](double left, double right) { return std::abs(left - right) <= kTolerance; });
}

/// In probability: how far apart logits may be depends on their size. Outputs in [0, 1] may be
/// probabilities already, and are compared as they are too.
bool alike(const engine::Logits& a, const engine::Logits& b) {
  if (a.size() != b.size() || a.empty()) return false;
  if (!all_finite(a) || !all_finite(b)) return all_finite(a) == all_finite(b);  // an error anyway
  const auto [lowest, highest] = std::ranges::minmax(a);
  if (lowest >= 0 && highest <= 1 && !close(a, b)) return false;
  return close(softmax(a), softmax(b));
}

/// Seeded noise of different strengths, and one constant window (all zeros).
std::vector<engine::Sequence> trial_windows(size_t window_length) {
  constexpr size_t kMost = 16;
  constexpr size_t kSamples = 1'048'576;
  std::mt19937 generator(20);
  std::vector<engine::Sequence> windows(std::clamp(kSamples / window_length, size_t{4}, kMost));
  for (size_t i = 0; i < windows.size(); ++i) {
    std::normal_distribution<float> noise(0.0F, i == 0 ? 1e-9F : 1.0F);
    windows[i].samples.resize(window_length);
    for (float& sample : windows[i].samples) sample = noise(generator);
  }
  windows[1].samples.assign(window_length, 0.0F);
  return windows;
}

class TorchScriptBackend final : public engine::Backend {
 public:
  TorchScriptBackend(const TorchScriptSource& source, const ComputeOptions& compute)
      : source_(source),
        compute_(compute),
        loaded_(load_torchscript_module(source.path, compute)),
        keeps_state_(keeps_state(loaded_.module)),
        windows_per_run_(std::max(kSamplesPerRun / source.window_length, size_t{1})),
        tried_file_(std::filesystem::path(source.path).filename().string()) {
    set_up_torchscript_thread();
    try {
      batching_ = try_windows() && windows_per_run_ > 1;
      if (batching_) pairs_lone_windows_ = answers_exactly_in_pairs_alone();
    } catch (const OutputError& error) {
      throw LoadError(tried_file_ + ": " + error.what());
    } catch (const engine::RunTimeout&) {
      throw LoadError(too_slow(tried_file_, compute.run_limit));
    }
    tried_file_.clear();
  }

  engine::Description description() const override {
    return {.backend = "torchscript",
            .max_length = source_.window_length,
            .num_outputs = trial_.outputs.empty() ? 0 : trial_.outputs.front().size(),
            .batching = batching_,
            .needs_preparation = false,
            .trial = trial_};
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

  std::optional<engine::Sequence> prepare_thread() override {
    set_intra_op_threads(compute_.threads_per_worker);
    set_up_torchscript_thread();
    engine::Sequence zeros = prepare(std::vector<float>(source_.window_length));
    const engine::Sequence* batch[] = {&zeros};
    try {
      run(batch);
    } catch (const engine::BackendError&) {
      // The model does not take zeros. Whether it takes a request's signal, that request is told.
    }
    return zeros;
  }

  std::vector<engine::Logits> run(engine::Batch batch, engine::Cores /*cores*/) override {
    return run(batch);
  }

  std::vector<engine::Logits> run(engine::Batch batch) {
    const RunLimit limit(compute_, tried_file_);
    try {
      const c10::InferenceMode inference_mode;
      std::vector<engine::Logits> results;
      results.reserve(batch.size());
      for (size_t i = 0; i < batch.size(); i += windows_per_run_) {
        const engine::Batch some = batch.subspan(i, std::min(windows_per_run_, batch.size() - i));
        if (pairs_lone_windows_ && some.size() == 1) {
          results.push_back(run_twice(*some.front()));
        } else {
          run_together(some, results);
        }
      }
      return results;
    } catch (const engine::BackendError&) {
      throw;
    } catch (...) {
      limit.throw_if_reached();
      throw engine::BackendError(message_of_current_exception());
    }
  }

 private:
  void run_together(engine::Batch batch, std::vector<engine::Logits>& results) const {
    const auto windows = static_cast<int64_t>(batch.size());
    at::Tensor input =
        at::empty({windows, 1, static_cast<int64_t>(source_.window_length)}, at::kFloat);
    auto* data = input.mutable_data_ptr<float>();
    for (const auto* const sequence : batch) data = std::ranges::copy(sequence->samples, data).out;
    // A copy shares the weights and has attributes of its own: no run sees the state of another.
    torch::jit::Module module = keeps_state_ ? loaded_.module.copy() : loaded_.module;
    const at::Tensor output = single_tensor(run_forward(module, {std::move(input)}));
    if (output.is_complex() || output.numel() % windows != 0) {
      throw engine::BackendError("the model gave " + std::to_string(output.numel()) +
                                 (output.is_complex() ? " complex" : "") + " numbers for " +
                                 std::to_string(windows) + " window(s)");
    }
    const at::Tensor logits = output.to(at::kFloat).contiguous();
    const auto* row = logits.const_data_ptr<float>();
    const int64_t columns = output.numel() / windows;
    for (int64_t i = 0; i < windows; ++i, row += columns) results.emplace_back(row, row + columns);
  }

  engine::Logits run_twice(const engine::Sequence& window) const {
    const engine::Sequence* pair[] = {&window, &window};
    std::vector<engine::Logits> results;
    run_together(pair, results);
    return std::move(results.front());
  }

  /// Whether windows answer the same in a batch as alone: nothing in a TorchScript file promises it
  /// (a model may normalize over its batch, or only take batches of one).
  bool try_windows() {
    const std::vector<engine::Sequence> windows = trial_windows(source_.window_length);
    std::vector<const engine::Sequence*> batch;
    for (const engine::Sequence& window : windows) {
      batch.push_back(&window);
      try {
        trial_.outputs.push_back(run({&batch.back(), 1}).front());
      } catch (const OutputError&) {
        throw;
      } catch (const engine::RunTimeout&) {
        throw;
      } catch (const engine::BackendError& error) {
        if (trial_.error.empty()) trial_.error = error.what();
      }
    }
    if (!trial_.error.empty()) return false;
    return answers_alike_again(batch) && answers_alike_in_batches(batch);
  }

  /// Not so when it draws random numbers, or keeps something from run to run.
  bool answers_alike_again(engine::Batch batch) {
    // Several: a model in training mode may by chance drop the same few values of one window again.
    constexpr size_t kWindows = 4;
    try {
      for (size_t i = 0; i < kWindows && trial_.repeatable; ++i) {
        trial_.repeatable = alike(trial_.outputs[i], run(batch.subspan(i, 1)).front());
      }
    } catch (const engine::BackendError&) {
      trial_.repeatable = false;
    }
    return trial_.repeatable;
  }

  bool answers_alike_in_batches(engine::Batch batch) {
    try {
      for (const size_t size : {size_t{2}, size_t{3}, batch.size()}) {
        if (!std::ranges::equal(run(batch.first(size)), std::span(trial_.outputs).first(size),
                                alike)) {
          return false;
        }
      }
      return true;
    } catch (const engine::BackendError&) {
      return false;
    }
  }

  /// LibTorch convolves one window with other code than several (ATen, Convolution.cpp,
  /// `use_mkldnn`), by which the last bits of its answer would tell whether it had company. Most
  /// models give every window the same bits in any batch of two and more; of those, a window that
  /// is alone runs beside itself.
  bool answers_exactly_in_pairs_alone() {
    const std::vector<engine::Sequence> windows = trial_windows(source_.window_length);
    std::vector<const engine::Sequence*> batch(windows.size());
    std::ranges::transform(windows, batch.begin(), [](const auto& window) { return &window; });
    try {
      const std::vector<engine::Logits> together = run(batch);
      if (together == trial_.outputs) return false;  // company changes nothing
      for (size_t i = 0; i < windows.size(); ++i) {
        const engine::Sequence* pair[] = {&windows[i], &windows[i]};
        if (run(pair).front() != together[i]) return false;
      }
      batch.resize(2 * windows.size(), &windows.front());
      const std::vector<engine::Logits> more = run(batch);
      return std::ranges::equal(std::span(more).first(windows.size()), together);
    } catch (const engine::BackendError&) {
      return false;
    }
  }

  TorchScriptSource source_;
  ComputeOptions compute_;
  TorchScriptModule loaded_;
  bool keeps_state_;
  size_t windows_per_run_;
  std::string tried_file_;  ///< empty once the model has been tried
  engine::Trial trial_;
  bool batching_ = false;
  bool pairs_lone_windows_ = false;
};

}  // namespace

std::shared_ptr<engine::Backend> load_torchscript(const TorchScriptSource& source,
                                                  const ComputeOptions& compute) {
  set_intra_op_threads(compute.threads_per_worker);
  try {
    return std::make_shared<TorchScriptBackend>(source, compute);
  } catch (const LoadError&) {
    throw;
  } catch (...) {
    throw LoadError(std::filesystem::path(source.path).filename().string() + ": " +
                    message_of_current_exception());
  }
}

}  // namespace backend
