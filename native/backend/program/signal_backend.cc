#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "program/program_backend.h"
#include "program/report.h"

namespace backend {
namespace {

/// Bounds what a batch of long windows takes of memory: 1,024 windows of 256, one of a million.
constexpr size_t kSamplesPerRun = 262'144;

/// Seeded noise of different strengths, and one constant window (all zeros).
std::vector<Sequence> trial_windows(size_t window_length) {
  constexpr size_t kMax = 16;
  constexpr size_t kSamples = 1'048'576;
  std::mt19937 generator(20);
  std::vector<Sequence> windows(std::clamp(kSamples / window_length, size_t{4}, kMax));
  for (size_t i = 0; i < windows.size(); ++i) {
    std::normal_distribution<float> noise(0.0F, i == 0 ? 1e-9F : 1.0F);
    windows[i].samples.resize(window_length);
    for (float& sample : windows[i].samples) sample = noise(generator);
  }
  windows[1].samples.assign(window_length, 0.0F);
  return windows;
}

/// As many as it takes, if that is not too much.
int64_t windows_per_run(const DimRange& windows, size_t window_length) {
  const auto few = static_cast<int64_t>(std::max(kSamplesPerRun / window_length, size_t{1}));
  return std::min(std::max(few, windows.least), windows.most);
}

std::string words_for_shape(const std::vector<int64_t>& shape) {
  std::vector<DimRange> sizes;
  sizes.reserve(shape.size());
  for (const int64_t size : shape) sizes.push_back({.least = size, .most = size});
  return words_for(std::span<const DimRange>(sizes));
}

bool fits(const std::vector<int64_t>& shape, std::span<const DimRange> sizes) {
  return std::ranges::equal(shape, sizes, [](int64_t size, const DimRange& given) {
    const DimRange range = as_meant(given);
    return size >= range.least && size <= range.most;
  });
}

/// Of any shape, without an overflow.
double count_of(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<double>());
}

/// `sizes`: of a window, as the file has them.
std::vector<int64_t> shape_within(std::span<const DimRange> sizes,
                                  const SignalProgramSource& source) {
  const std::filesystem::path path(source.path);
  const std::string settings = path.stem().string() + ".json";
  const auto length = static_cast<int64_t>(source.window_length);
  std::vector<int64_t> shape = source.input_shape;
  if (shape.empty() && std::ranges::all_of(sizes, &DimRange::is_fixed)) {
    for (const DimRange& size : sizes) shape.push_back(size.least);
    if (count_of(shape) == static_cast<double>(length)) return shape;
    throw LoadError(path.filename().string() + ": takes windows of " + words_for(sizes) + ", but " +
                    settings + " says (or leaves it at) window_length " + std::to_string(length) +
                    ": set it there to the product of these");
  }
  if (shape.empty()) shape = {1, length};
  if (fits(shape, sizes)) return shape;
  throw LoadError(path.filename().string() + ": takes windows of " + words_for(sizes) +
                  ", but is given " + words_for_shape(shape) + ": set input_shape in " + settings);
}

struct SignalInput {
  std::vector<int64_t> shape;  ///< of a window; the windows of a run come before it
  c10::ScalarType type;        ///< one of floating point
  DimRange windows;            ///< that a run takes
};

/// Of the one input that there has to be. Throws LoadError: there are others, of another type, or
/// without room for what the settings say of a window.
SignalInput signal_input_of(const std::vector<ProgramInput>& inputs,
                            const SignalProgramSource& source) {
  const std::string file = std::filesystem::path(source.path).filename().string();
  if (inputs.size() != 1) {
    throw LoadError(file + ": takes " + words_for(inputs) + ", expected one, the windows");
  }
  const ProgramInput& input = inputs.front();
  const c10::ScalarType type = input.type.value_or(c10::kFloat);
  if (!c10::isFloatingType(type) || c10::elementSize(type) == 1) {
    throw LoadError(file + ": " + input.name + ": takes " + c10::toString(type) +
                    ", expected a floating-point type");
  }
  if (!input.sizes) {
    const auto length = static_cast<int64_t>(source.window_length);
    const std::vector<int64_t> usual{1, length};
    return {.shape = source.input_shape.empty() ? usual : source.input_shape,
            .type = type,
            .windows = {}};
  }
  if (input.sizes->empty()) {
    throw LoadError(file + ": " + input.name + ": takes one number, expected windows");
  }
  const DimRange windows = as_meant(input.sizes->front());
  if (windows.most < 1) throw LoadError(file + ": " + input.name + ": takes 0 windows");
  return {.shape = shape_within(std::span(*input.sizes).subspan(1), source),
          .type = type,
          .windows = windows};
}

class SignalBackend final : public ProgramBackend {
 public:
  SignalBackend(std::unique_ptr<Program> program, const SignalProgramSource& source,
                const ComputeOptions& compute)
      : ProgramBackend(std::move(program), source.path, compute),
        window_length_(source.window_length),
        input_(signal_input_of(this->program().inputs(), source)) {
    limit_rows(input_.windows, windows_per_run(input_.windows, window_length_));
    const std::vector<Sequence> windows = trial_windows(window_length_);
    const std::vector<const Sequence*> batch = pointers_to(windows);
    try {
      batching_ = try_windows(batch) && limits_.most_rows > 1;
      if (batching_ && answers_exactly_in_pairs_alone(batch)) {
        limits_.least_rows = std::max(limits_.least_rows, size_t{2});
      }
    } catch (const OutputError& error) {
      throw LoadError(file() + ": " + error.what());
    } catch (const scheduler::RunTimeout&) {
      throw too_slow_to_try();
    }
    end_trial();
  }

  scheduler::Description description() const override {
    return {.max_length = window_length_, .batching = batching_};
  }

  ModelReport report() const {
    ModelReport report =
        report_of(trial_.outputs.empty() ? 0 : trial_.outputs.front().values.size(), "window");
    report.trial = trial_;
    return report;
  }

  Sequence to_sequence(ModelInput input) const override {
    Sequence sequence;
    sequence.samples = std::get<Samples>(std::move(input));
    if (sequence.samples.size() != window_length_) {
      throw scheduler::BackendError("expected " + std::to_string(window_length_) +
                                 " samples, received " + std::to_string(sequence.samples.size()));
    }
    return sequence;
  }

  Sequence warm_up(const scheduler::AssignedPool& /*pool*/) override {
    prepare_program();
    Sequence zeros = to_sequence(std::vector<float>(window_length_));
    const Sequence* batch[] = {&zeros};
    try {
      run_batch(batch);
    } catch (const scheduler::BackendError&) {
      // The model does not take zeros. Whether it takes a request's signal, that request is told.
    }
    return zeros;
  }

 private:
  /// [windows, …]
  std::vector<c10::IValue> arguments(const Rows& rows, Batch batch) const override {
    std::vector<int64_t> sizes{static_cast<int64_t>(rows.count)};
    sizes.insert(sizes.end(), input_.shape.begin(), input_.shape.end());
    at::Tensor input = at::empty(sizes, at::kFloat);
    auto* data = input.mutable_data_ptr<float>();
    for (size_t i = 0; i < rows.count; ++i) {
      data = std::ranges::copy(rows.row(batch, i).samples, data).out;
    }
    return {input.to(input_.type)};
  }

  at::Tensor answers(const c10::IValue& output, const Rows& all) const override {
    const auto rows = static_cast<int64_t>(all.count);
    at::Tensor numbers = single_tensor(output);
    if (numbers.is_complex() || numbers.numel() % rows != 0) {
      throw scheduler::BackendError("the model gave " + std::to_string(numbers.numel()) +
                                 (numbers.is_complex() ? " complex" : "") + " numbers for " +
                                 std::to_string(rows) + " window(s)");
    }
    return numbers;
  }

  /// Whether windows answer the same in a batch as alone: nothing in the file promises it
  /// (a model may normalize over its batch, or only take batches of one).
  bool try_windows(Batch windows) {
    for (size_t i = 0; i < windows.size(); ++i) {
      try {
        trial_.outputs.push_back(run_batch(windows.subspan(i, 1)).front());
      } catch (const OutputError&) {
        throw;
      } catch (const scheduler::RunTimeout&) {
        throw;
      } catch (const scheduler::BackendError& error) {
        if (trial_.error.empty()) trial_.error = error.what();
      }
    }
    if (!trial_.error.empty()) return false;
    const std::span<const scheduler::Output> alone = trial_.outputs;
    // It does not answer the same again when it draws random numbers, or keeps something from run
    // to run. Several: a model in training mode may by chance drop the same few values of one
    // window again.
    constexpr size_t kAgain = 4;
    for (size_t i = 0; i < kAgain && trial_.repeatable; ++i) {
      trial_.repeatable =
          gives(alone.subspan(i, 1), windows.subspan(i, 1), allclose_in_probability);
    }
    if (!trial_.repeatable) return false;
    return std::ranges::all_of(std::array{size_t{2}, size_t{3}, windows.size()}, [&](size_t size) {
      return gives(alone.first(size), windows.first(size), allclose_in_probability);
    });
  }

  /// LibTorch convolves one window with other code than several (ATen, Convolution.cpp,
  /// `use_mkldnn`), by which the last bits of its answer would tell whether it was alone. Most
  /// models give every window the same bits in any batch of two and more; of those, a window that
  /// is alone runs beside itself.
  bool answers_exactly_in_pairs_alone(Batch windows) {
    try {
      const std::vector<scheduler::Output> together = run_batch(windows);
      if (together == trial_.outputs) return false;  // a batch changes nothing
      for (size_t i = 0; i < windows.size(); ++i) {
        const Sequence* pair[] = {windows[i], windows[i]};
        if (run_batch(pair).front() != together[i]) return false;
      }
      std::vector<const Sequence*> batch(windows.begin(), windows.end());
      batch.resize(2 * windows.size(), windows.front());
      const std::vector<scheduler::Output> more = run_batch(batch);
      return std::ranges::equal(std::span(more).first(windows.size()), together);
    } catch (const scheduler::BackendError&) {
      return false;
    }
  }

  size_t window_length_;
  SignalInput input_;
  Trial trial_;
  bool batching_ = false;
};

}  // namespace

LoadedModel serve_signals(std::unique_ptr<Program> program, const SignalProgramSource& source,
                          const ComputeOptions& compute) {
  const auto backend = std::make_shared<SignalBackend>(std::move(program), source, compute);
  return {.backend = backend, .report = backend->report()};
}

}  // namespace backend
