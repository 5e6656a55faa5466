#include "loading.h"

#include <filesystem>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>

#include "scheduler/detached.h"

namespace node {
namespace {

using std::chrono::milliseconds;

/// How often the model that is being tried is looked at.
constexpr milliseconds kPeriod{100};
/// An endless loop ends by itself when its time is up; this much later it would have.
constexpr milliseconds kSlack{1000};
/// What a load that is cancelled may still take to end in order.
constexpr milliseconds kPatience{1000};

/// The name of the file whose code is run; empty: none is.
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

Model Loading::load_model() const {
  auto [backend, report, vocabulary] =
      std::visit([this](const auto& source) { return backend::load(source, arguments_.compute); },
                 arguments_.source);
  Model model{.engine = nullptr,
              .description = backend->description(),
              .report = std::move(report),
              .vocabulary = std::move(vocabulary),
              .file_bytes = std::visit([](const auto& source) { return bytes_of(source); },
                                       arguments_.source)};
  model.engine = std::make_shared<scheduler::Engine>(
      machine_of_process(), std::move(backend), arguments_.scheduling,
      [clients = model.clients](scheduler::Completions ended) { clients->deliver(std::move(ended)); });
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
  if (!given_up_) loaded_ = std::move(loaded);
  error_ = error;
  ended_ = true;
  changed_.notify_all();
}

Model Loading::run() {
  thread_ = std::thread([self = shared_from_this()] { self->load(); });
  const auto& progress = *arguments_.compute.progress;
  const auto limit = arguments_.compute.run_limit;
  std::unique_lock lock(mutex_);
  bool is_stuck = false;
  while (!ended_ && !cancelled_ && !is_stuck) {
    changed_.wait_for(lock, kPeriod);
    is_stuck = progress.runs_for(limit + kSlack);
  }
  if (!ended_ && cancelled_) changed_.wait_for(lock, kPatience, [this] { return ended_; });
  if (!ended_) {
    given_up_ = true;
    lock.unlock();
    scheduler::await_detached([self = shared_from_this()] { self->thread_.join(); });
    if (!is_stuck) throw backend::LoadError("loading was cancelled");
    throw backend::LoadError(backend::too_slow(program_of(arguments_.source), limit));
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
