#include "program/signal_backend.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "program/alike.h"
#include "program/served_program.h"
#include "program/signal_input.h"
#include "program/signature.h"

namespace backend {
namespace {

/// Bounds what a batch of long windows takes of memory: 1,024 windows of 256, one of a million.
constexpr size_t kSamplesPerRun = 262'144;

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

/// As many as it takes, if that is not too much.
size_t windows_per_run(const Extent& windows, size_t window_length) {
  const auto few = static_cast<int64_t>(std::max(kSamplesPerRun / window_length, size_t{1}));
  return static_cast<size_t>(std::min(std::max(few, windows.least), windows.most));
}

class SignalBackend final : public engine::Backend {
 public:
  SignalBackend(std::unique_ptr<Program> program, const SignalProgramSource& source,
                const ComputeOptions& compute)
      : program_(std::move(program), std::filesystem::path(source.path).filename().string(),
                 compute),
        window_length_(source.window_length),
        input_(signal_input_of(program_.inputs(), source)),
        windows_per_run_(windows_per_run(input_.windows, source.window_length)) {
    try {
      batching_ = try_windows() && windows_per_run_ > 1;
      if (batching_) pairs_lone_windows_ = answers_exactly_in_pairs_alone();
    } catch (const OutputError& error) {
      throw LoadError(program_.file() + ": " + error.what());
    } catch (const engine::RunTimeout&) {
      throw program_.too_slow_to_try();
    }
    program_.end_trial();
  }

  engine::Description description() const override {
    return {.max_length = window_length_, .batching = batching_};
  }

  ModelReport report() const {
    ModelReport report =
        program_.report(trial_.outputs.empty() ? 0 : trial_.outputs.front().values.size());
    if (input_.windows.is_fixed()) {
      report.warnings.push_back(
          fixed_number_warning(program_.file(), input_.windows.most, "window"));
    }
    report.trial = trial_;
    return report;
  }

  engine::Sequence prepare(engine::Input input) const override {
    engine::Sequence sequence;
    sequence.samples = std::get<std::vector<float>>(std::move(input));
    if (sequence.samples.size() != window_length_) {
      throw engine::BackendError("expected " + std::to_string(window_length_) +
                                 " samples, received " + std::to_string(sequence.samples.size()));
    }
    return sequence;
  }

  std::optional<engine::Sequence> prepare_thread(gemm::Team* /*team*/) override {
    program_.prepare_thread();
    engine::Sequence zeros = prepare(std::vector<float>(window_length_));
    const engine::Sequence* batch[] = {&zeros};
    try {
      run(batch);
    } catch (const engine::BackendError&) {
      // The model does not take zeros. Whether it takes a request's signal, that request is told.
    }
    return zeros;
  }

  std::vector<engine::Output> run(engine::Batch batch, gemm::Team* /*team*/) override {
    return run(batch);
  }

  std::vector<engine::Output> run(engine::Batch batch) {
    return program_.limited([&] {
      std::vector<engine::Output> results;
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
    });
  }

 private:
  void run_together(engine::Batch batch, std::vector<engine::Output>& results) const {
    const auto windows = std::max(static_cast<int64_t>(batch.size()), input_.windows.least);
    const at::Tensor output = single_tensor(program_.run({filled(batch, windows)}));
    if (output.is_complex() || output.numel() % windows != 0) {
      throw engine::BackendError("the model gave " + std::to_string(output.numel()) +
                                 (output.is_complex() ? " complex" : "") + " numbers for " +
                                 std::to_string(windows) + " window(s)");
    }
    const at::Tensor logits = output.to(at::kFloat).contiguous();
    const auto* row = logits.const_data_ptr<float>();
    const int64_t columns = output.numel() / windows;
    for (size_t i = 0; i < batch.size(); ++i, row += columns) {
      results.push_back({.values = {row, row + columns}});
    }
  }

  /// [windows, …]; where there are fewer, copies of the last one follow.
  at::Tensor filled(engine::Batch batch, int64_t windows) const {
    std::vector<int64_t> sizes{windows};
    sizes.insert(sizes.end(), input_.shape.begin(), input_.shape.end());
    at::Tensor input = at::empty(sizes, at::kFloat);
    auto* data = input.mutable_data_ptr<float>();
    for (size_t i = 0; i < static_cast<size_t>(windows); ++i) {
      data = std::ranges::copy(batch[std::min(i, batch.size() - 1)]->samples, data).out;
    }
    return input.to(input_.type);
  }

  engine::Output run_twice(const engine::Sequence& window) const {
    const engine::Sequence* pair[] = {&window, &window};
    std::vector<engine::Output> results;
    run_together(pair, results);
    return std::move(results.front());
  }

  /// Whether windows answer the same in a batch as alone: nothing in the file promises it
  /// (a model may normalize over its batch, or only take batches of one).
  bool try_windows() {
    const std::vector<engine::Sequence> windows = trial_windows(window_length_);
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
        trial_.repeatable =
            alike_in_probability(trial_.outputs[i], run(batch.subspan(i, 1)).front());
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
                                alike_in_probability)) {
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
    const std::vector<engine::Sequence> windows = trial_windows(window_length_);
    std::vector<const engine::Sequence*> batch(windows.size());
    std::ranges::transform(windows, batch.begin(), [](const auto& window) { return &window; });
    try {
      const std::vector<engine::Output> together = run(batch);
      if (together == trial_.outputs) return false;  // company changes nothing
      for (size_t i = 0; i < windows.size(); ++i) {
        const engine::Sequence* pair[] = {&windows[i], &windows[i]};
        if (run(pair).front() != together[i]) return false;
      }
      batch.resize(2 * windows.size(), &windows.front());
      const std::vector<engine::Output> more = run(batch);
      return std::ranges::equal(std::span(more).first(windows.size()), together);
    } catch (const engine::BackendError&) {
      return false;
    }
  }

  ServedProgram program_;
  size_t window_length_;
  SignalInput input_;
  size_t windows_per_run_;
  Trial trial_;
  bool batching_ = false;
  bool pairs_lone_windows_ = false;
};

}  // namespace

LoadedModel serve_signals(std::unique_ptr<Program> program, const SignalProgramSource& source,
                          const ComputeOptions& compute) {
  const auto backend = std::make_shared<SignalBackend>(std::move(program), source, compute);
  return {.backend = backend, .report = backend->report()};
}

}  // namespace backend
