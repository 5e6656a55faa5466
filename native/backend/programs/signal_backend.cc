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

#include "common/error.h"
#include "programs/constant_inputs.h"
#include "programs/program_backend.h"
#include "programs/report.h"

namespace backend {
namespace {

/// Limits the memory of a run of several windows.
constexpr size_t kSamplesPerRun = 262'144;
/// Samples of a run whose intermediate results usually stay in the cache.
constexpr size_t kCachedSamples = 8192;
/// Windows that read the weights together, if they are larger.
constexpr size_t kFewWindows = 4;
/// Samples of a window from which on the threads of the pool help. The shipped signal model with
/// 256 samples has fewer requests/s with them (8 clients: 0.61 to 0.85 times).
constexpr size_t kPooledSamples = 1024;

/// Windows of seeded noise with different amplitudes, and one of zeros.
std::vector<Sequence> check_windows(size_t window_length) {
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

/// Maximum windows of a run. A batch of more windows has several runs.
int64_t windows_per_run(const DimRange& windows, size_t window_length) {
  const size_t cached = std::max(kCachedSamples / window_length, kFewWindows);
  const auto some =
      static_cast<int64_t>(std::max(std::min(cached, kSamplesPerRun / window_length), size_t{1}));
  return std::min(std::max(some, windows.min), windows.max);
}

std::string describe_shape(const std::vector<int64_t>& shape) {
  std::vector<DimRange> sizes;
  sizes.reserve(shape.size());
  for (const int64_t size : shape) sizes.push_back({.min = size, .max = size});
  return describe(std::span<const DimRange>(sizes));
}

bool fits(const std::vector<int64_t>& shape, std::span<const DimRange> sizes) {
  return std::ranges::equal(shape, sizes, [](int64_t size, const DimRange& given) {
    const DimRange range = without_01_specialization(given);
    return size >= range.min && size <= range.max;
  });
}

/// Product of the sizes, as a float: cannot overflow.
double count_of(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<double>());
}

/// Shape of a window. `sizes`: those in the file. Throws LoadError if they do not match the
/// settings.
std::vector<int64_t> shape_within(std::span<const DimRange> sizes,
                                  const SignalProgramSource& source) {
  const std::filesystem::path path(source.path);
  const std::string settings = path.stem().string() + ".json";
  const auto length = static_cast<int64_t>(source.window_length);
  std::vector<int64_t> shape = source.input_shape;
  if (shape.empty() && std::ranges::all_of(sizes, &DimRange::is_fixed)) {
    for (const DimRange& size : sizes) shape.push_back(size.min);
    if (count_of(shape) == static_cast<double>(length)) return shape;
    throw common::LoadError(path.filename().string() + ": takes windows of " + describe(sizes) +
                            ", but " + settings + " specifies (or defaults to) window_length " +
                            std::to_string(length) + ": set it there to the product of these");
  }
  if (shape.empty()) shape = {1, length};
  if (fits(shape, sizes)) return shape;
  throw common::LoadError(path.filename().string() + ": takes windows of " + describe(sizes) +
                          ", but is given " + describe_shape(shape) + ": set input_shape in " +
                          settings);
}

struct SignalInput {
  size_t position = 0;         ///< among the inputs of the program
  std::vector<int64_t> shape;  ///< of a window, without the batch dimension
  c10::ScalarType type;        ///< a floating-point type
  DimRange windows;            ///< windows of a run
};

/// Position of the only input that is not constant. Throws LoadError if there are several, or if a
/// constant has no input.
size_t signal_position(const std::vector<ProgramInput>& inputs, const SignalProgramSource& source) {
  const std::filesystem::path path(source.path);
  const std::string file = path.filename().string();
  const std::string settings = path.stem().string() + ".json";
  const auto& constants = source.constant_inputs;
  for (const ConstantInput& constant : constants) {
    if (std::ranges::find(inputs, constant.name, &ProgramInput::name) == inputs.end()) {
      std::string problem = settings + ": constant_inputs.";
      problem.append(constant.name).append(": ").append(file).append(" takes ");
      throw common::LoadError(problem.append(describe(inputs)));
    }
  }
  const auto is_signal = [&](const ProgramInput& input) {
    return std::ranges::find(constants, input.name, &ConstantInput::name) == constants.end();
  };
  const auto count = std::ranges::count_if(inputs, is_signal);
  if (count == 1) return std::ranges::find_if(inputs, is_signal) - inputs.begin();
  const bool one_missing = inputs.size() > 1 && count > 1;
  throw common::LoadError(file + ": takes " + describe(inputs) + ", expected one, the windows" +
                          (one_missing ? ": set the others in constant_inputs in " + settings
                           : count == 0 && !inputs.empty() ? ", besides those in constant_inputs"
                                                           : ""));
}

/// The windows. Throws LoadError if the type or sizes are not supported.
SignalInput signal_input_of(const std::vector<ProgramInput>& inputs,
                            const SignalProgramSource& source) {
  const std::string file = std::filesystem::path(source.path).filename().string();
  const size_t position = signal_position(inputs, source);
  const ProgramInput& input = inputs[position];
  const c10::ScalarType type = input.type.value_or(c10::kFloat);
  if (!c10::isFloatingType(type) || c10::elementSize(type) == 1) {
    throw common::LoadError(file + ": " + input.name + ": takes " + c10::toString(type) +
                            ", expected a floating-point type");
  }
  if (!input.sizes) {
    const auto length = static_cast<int64_t>(source.window_length);
    const std::vector<int64_t> usual{1, length};
    return {.position = position,
            .shape = source.input_shape.empty() ? usual : source.input_shape,
            .type = type,
            .windows = {}};
  }
  if (input.sizes->empty()) {
    throw common::LoadError(file + ": " + input.name + ": takes one number, expected windows");
  }
  const DimRange windows = without_01_specialization(input.sizes->front());
  if (windows.max < 1) throw common::LoadError(file + ": " + input.name + ": takes 0 windows");
  return {.position = position,
          .shape = shape_within(std::span(*input.sizes).subspan(1), source),
          .type = type,
          .windows = windows};
}

/// Arguments of all inputs except the windows, in order. Throws LoadError.
std::vector<ConstantArgument> constants_of(const std::vector<ProgramInput>& inputs,
                                           const SignalProgramSource& source) {
  const std::string key = std::filesystem::path(source.path).stem().string() + ".json: ";
  std::vector<ConstantArgument> constants;
  for (const ProgramInput& input : inputs) {
    const auto given = std::ranges::find(source.constant_inputs, input.name, &ConstantInput::name);
    if (given == source.constant_inputs.end()) continue;  // the windows
    constants.emplace_back(*given, input, key + "constant_inputs." + input.name);
  }
  return constants;
}

class SignalBackend final : public ProgramBackend {
 public:
  SignalBackend(std::unique_ptr<Program> program, const SignalProgramSource& source,
                const ComputeOptions& compute)
      : ProgramBackend(std::move(program), source.path, compute),
        window_length_(source.window_length),
        input_(signal_input_of(this->program().inputs(), source)),
        constants_(constants_of(this->program().inputs(), source)) {
    limit_windows();
    const std::vector<Sequence> windows = check_windows(window_length_);
    const std::vector<const Sequence*> batch = to_batch(windows);
    try {
      batching_ = check_windows_in_batches(batch) && limits_.max_rows > 1;
      if (batching_ && must_run_in_pairs(batch)) {
        limits_.min_rows = std::max(limits_.min_rows, size_t{2});
      }
      split_groups_over_threads();
    } catch (const OutputError& error) {
      throw common::LoadError(file() + ": " + error.what());
    } catch (const scheduler::RunTimeout&) {
      throw check_timed_out();
    }
    end_load_time_check();
  }

  scheduler::Description description() const override {
    return {.max_length = window_length_,
            .batching = batching_,
            .uses_pool = window_length_ >= kPooledSamples};
  }

  ModelReport report() const {
    ModelReport report =
        report_of(check_.outputs.empty() ? 0 : check_.outputs.front().values.size(), "window");
    report.load_time_check = check_;
    return report;
  }

  Sequence to_sequence(ModelInput input) const override {
    Sequence sequence;
    sequence.samples = std::get<Samples>(std::move(input));
    if (sequence.samples.size() != window_length_) {
      throw scheduler::BackendError("expected " + std::to_string(window_length_) +
                                    " samples, received " +
                                    std::to_string(sequence.samples.size()));
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
      // The model does not support zeros. Requests report their own errors.
    }
    return zeros;
  }

 private:
  /// Limits runs to the windows that all inputs accept, and to a number of values.
  void limit_windows() {
    size_t values = window_length_;
    for (const ConstantArgument& constant : constants_) {
      values += constant.values();
      const DimRange& range = constant.windows();
      if (range.is_fixed() && range.min == 1) continue;  // does not follow the windows
      input_.windows.min = std::max(input_.windows.min, range.min);
      input_.windows.max = std::min(input_.windows.max, range.max);
    }
    if (input_.windows.max < std::max<int64_t>(input_.windows.min, 1)) {
      throw common::LoadError(file() + ": its inputs take different numbers of windows");
    }
    limit_batch(input_.windows, windows_per_run(input_.windows, values));
  }

  /// The windows [windows, …], and the constants.
  std::vector<c10::IValue> arguments(const RowGroup& rows, Batch batch) const override {
    std::vector<int64_t> sizes{static_cast<int64_t>(rows.count)};
    sizes.insert(sizes.end(), input_.shape.begin(), input_.shape.end());
    at::Tensor input = at::empty(sizes, at::kFloat);
    auto* data = input.mutable_data_ptr<float>();
    for (size_t i = 0; i < rows.count; ++i) {
      data = std::ranges::copy(rows.row(batch, i).samples, data).out;
    }
    std::vector<c10::IValue> all;
    all.reserve(constants_.size() + 1);
    for (const ConstantArgument& constant : constants_)
      all.emplace_back(constant.of_run(rows.count));
    all.insert(all.begin() + static_cast<ptrdiff_t>(input_.position), input.to(input_.type));
    return all;
  }

  at::Tensor extract_outputs(const c10::IValue& output, const RowGroup& all) const override {
    const auto rows = static_cast<int64_t>(all.count);
    at::Tensor numbers = single_tensor(output);
    if (numbers.is_complex() || numbers.numel() % rows != 0) {
      throw scheduler::BackendError("the model returned " + std::to_string(numbers.numel()) +
                                    (numbers.is_complex() ? " complex" : "") + " numbers for " +
                                    std::to_string(rows) + " window(s)");
    }
    return numbers;
  }

  /// True if windows have the same output in a batch as alone. The file does not guarantee it: a
  /// model may normalize over its batch, or support only a batch of 1.
  bool check_windows_in_batches(Batch windows) {
    for (size_t i = 0; i < windows.size(); ++i) {
      try {
        check_.outputs.push_back(run_batch(windows.subspan(i, 1)).front());
      } catch (const OutputError&) {
        throw;
      } catch (const scheduler::RunTimeout&) {
        throw;
      } catch (const scheduler::BackendError& error) {
        if (check_.error.empty()) check_.error = error.what();
      }
    }
    if (!check_.error.empty()) return false;
    const std::span<const scheduler::Output> alone = check_.outputs;
    // Runs differ if the model draws random numbers or keeps state. Several windows are repeated,
    // because dropout may happen to select the same values once.
    constexpr size_t kAgain = 4;
    for (size_t i = 0; i < kAgain && check_.repeatable; ++i) {
      check_.repeatable =
          matches(alone.subspan(i, 1), windows.subspan(i, 1), allclose_in_probability);
    }
    if (!check_.repeatable) return false;
    return std::ranges::all_of(std::array{size_t{2}, size_t{3}, windows.size()}, [&](size_t size) {
      return matches(alone.first(size), windows.first(size), allclose_in_probability);
    });
  }

  /// True if a single window must run as a pair. LibTorch's convolution uses different algorithms
  /// for one and for several windows (ATen, Convolution.cpp, `use_mkldnn`), so the last bits would
  /// depend on the batch size. Most models have bitwise identical results for all batches of two or
  /// more windows.
  bool must_run_in_pairs(Batch windows) {
    try {
      const std::vector<scheduler::Output> together = run_batch(windows);
      if (together == check_.outputs) return false;  // the batch size has no influence
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
  std::vector<ConstantArgument> constants_;  ///< in order, without the windows
  LoadTimeCheck check_;
  bool batching_ = false;
};

}  // namespace

LoadedModel serve_signals(std::unique_ptr<Program> program, const SignalProgramSource& source,
                          const ComputeOptions& compute) {
  const auto backend = std::make_shared<SignalBackend>(std::move(program), source, compute);
  return {.backend = backend, .report = backend->report()};
}

}  // namespace backend
