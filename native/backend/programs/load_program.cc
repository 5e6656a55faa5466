// Loading of programs, by file extension: torch.export (.pt2), otherwise TorchScript.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "backend/backends.h"
#include "common/error.h"
#include "programs/exported/exported.h"
#include "programs/program_backend.h"
#include "programs/torchscript/torchscript.h"
#include "runtime/runtime.h"

namespace backend {
namespace {

bool is_exported(const std::string& path) {
  return std::filesystem::path(path).extension() == ".pt2";
}

std::unique_ptr<Program> load_program(const std::string& path, const ComputeOptions& compute) {
  return is_exported(path) ? load_exported(path, compute) : load_torchscript(path, compute);
}

template <class Serve>
LoadedModel load_and_serve(const std::string& path, const ComputeOptions& compute,
                           const Serve& serve) {
  set_intra_op_threads(compute.threads_per_worker);
  silence_warnings();
  try {
    return serve(load_program(path, compute));
  } catch (const common::LoadError&) {
    throw;
  } catch (const scheduler::RunTimeout&) {
    throw common::LoadError(
        run_limit_error(std::filesystem::path(path).filename().string(), compute.run_limit));
  } catch (...) {
    throw common::LoadError(std::filesystem::path(path).filename().string() + ": " +
                            message_of_current_exception());
  }
}

}  // namespace

LoadedModel load(const TextProgramSource& source, const ComputeOptions& compute) {
  keep_memory_between_batches();
  return load_and_serve(source.path, compute, [&](std::unique_ptr<Program> program) {
    return serve_texts(std::move(program), source, compute);
  });
}

LoadedModel load(const SignalProgramSource& source, const ComputeOptions& compute) {
  ComputeOptions as_saved = compute;
  as_saved.dtype = Dtype::kFloat32;  // DTYPE and ATTENTION_DTYPE apply to text models
  as_saved.attention_precision = AttentionPrecision::kAuto;
  return load_and_serve(source.path, as_saved, [&](std::unique_ptr<Program> program) {
    return serve_signals(std::move(program), source, as_saved);
  });
}

ProgramReport inspect_program(const std::string& path,
                              const std::set<std::string>& allowed_operators) {
  silence_warnings();
  return is_exported(path) ? inspect_exported(path, allowed_operators)
                           : inspect_torchscript(path, allowed_operators);
}

}  // namespace backend
