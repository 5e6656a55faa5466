#include "loading.h"

#include <filesystem>
#include <future>
#include <numeric>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "common/error.h"
#include "scheduler/abandoned_threads.h"
#include "scheduler/result_cache.h"
#include "scheduler/thread_setup.h"

namespace node {
namespace {

using std::chrono::milliseconds;

/// Interval at which the progress of the load is checked.
constexpr milliseconds kPeriod{100};
/// Time after the limit in which a test run can end by itself: loops of a program check the limit.
constexpr milliseconds kSlack{1000};
/// Time in which a cancelled load can end in order.
constexpr milliseconds kCancelTimeout{1000};

/// State that all models of the process share.
struct Process {
  std::mutex mutex;
  std::weak_ptr<scheduler::Scheduler> scheduler;
  std::weak_ptr<scheduler::ResultCache> results;
};

/// Never destroyed: a load may end while the process exits.
Process& process() {
  static auto* const process = new Process();
  return *process;
}

/// The scheduler of the process. It exists while a queue holds it. Any thread.
std::shared_ptr<scheduler::Scheduler> scheduler_of_process() {
  const std::lock_guard lock(process().mutex);
  auto shared = process().scheduler.lock();
  if (!shared) process().scheduler = shared = std::make_shared<scheduler::Scheduler>();
  return shared;
}

/// The result cache of the process. It exists while a queue holds it; the first queue determines
/// its size. Null if max_bytes is 0. Any thread.
std::shared_ptr<scheduler::ResultCache> results_of_process(size_t max_bytes) {
  if (max_bytes == 0) return nullptr;
  const std::lock_guard lock(process().mutex);
  auto results = process().results.lock();
  if (!results) process().results = results = std::make_shared<scheduler::ResultCache>(max_bytes);
  return results;
}

/// Name of the file whose code is run; empty for a text encoder.
std::string program_of(const Source& source) {
  std::filesystem::path path;
  if (const auto* text = std::get_if<backend::TextProgramSource>(&source)) path = text->path;
  if (const auto* signal = std::get_if<backend::SignalProgramSource>(&source)) path = signal->path;
  return path.filename().string();
}

size_t bytes_of(std::span<const std::string> files) {
  return std::accumulate(files.begin(), files.end(), size_t{0},
                         [](size_t sum, const std::string& file) {
                           std::error_code problem;
                           const auto bytes = std::filesystem::file_size(file, problem);
                           return problem ? sum : sum + static_cast<size_t>(bytes);
                         });
}

size_t bytes_of(const backend::TextModelSource& source) { return bytes_of(source.weight_files); }
size_t bytes_of(const auto& program) { return bytes_of(std::span(&program.path, 1)); }

}  // namespace

/// Reads and packs the model on a thread of its own. While other models serve requests, the thread
/// has a lower priority: otherwise packing would take a core from them for seconds. The calling
/// thread keeps its priority, which the threads of the queue inherit.
backend::LoadedModel Loading::load_backend() const {
  const bool is_in_service = scheduler_of_process()->is_in_service();
  std::packaged_task<backend::LoadedModel()> task([&] {
    scheduler::set_up_thread(
        "model load", is_in_service ? scheduler::Priority::kLower : scheduler::Priority::kEqual);
    return std::visit(
        [this](const auto& source) { return backend::load(source, arguments_.compute); },
        arguments_.source);
  });
  auto loaded = task.get_future();
  std::thread(std::move(task)).join();
  return loaded.get();
}

Model Loading::load_model() const {
  auto [backend, report, vocabulary] = load_backend();
  Model model{.queue = nullptr,
              .description = backend->description(),
              .report = std::move(report),
              .vocabulary = std::move(vocabulary),
              .file_bytes = std::visit([](const auto& source) { return bytes_of(source); },
                                       arguments_.source)};
  scheduler::Options options = arguments_.scheduling;
  options.results = results_of_process(arguments_.result_cache_bytes);
  // The cache stores the result of each text.
  if (options.results) model.report.reads_lists = false;
  model.queue = std::make_shared<scheduler::ModelQueue>(scheduler_of_process(), std::move(backend),
                                                        std::move(options), on_completions_);
  return model;
}

void Loading::load() noexcept {
  Model loaded;
  std::exception_ptr error;
  try {
    loaded = load_model();
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  if (!abandoned_) loaded_ = std::move(loaded);
  error_ = error;
  ended_ = true;
  changed_.notify_all();
}

Model Loading::run() {
  thread_ = std::thread([self = shared_from_this()] { self->load(); });
  const auto& progress = *arguments_.compute.progress;
  const auto limit = arguments_.compute.run_limit;
  std::unique_lock lock(mutex_);
  bool hung = false;
  while (!ended_ && !cancelled_ && !hung) {
    changed_.wait_for(lock, kPeriod);
    hung = progress.is_running_longer_than(limit + kSlack);
  }
  if (!ended_ && cancelled_) changed_.wait_for(lock, kCancelTimeout, [this] { return ended_; });
  if (!ended_) {
    abandoned_ = true;
    lock.unlock();
    scheduler::join_in_background([self = shared_from_this()] { self->thread_.join(); });
    if (!hung) throw common::LoadError("loading was cancelled");
    throw common::LoadError(backend::run_limit_error(program_of(arguments_.source), limit));
  }
  lock.unlock();
  thread_.join();
  if (error_) std::rethrow_exception(error_);
  return std::move(loaded_);
}

void Loading::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
}

}  // namespace node
