#include "runtime/runtime.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <malloc.h>
#include <sys/resource.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <new>
#include <string_view>

#include "backend/backends.h"
#include "tokenizers/bridge.h"

namespace backend {
namespace {

/// Returns the line after the last error name: TorchScript's message is "… Traceback of TorchScript
/// …:\n  File …\n RuntimeError: the message".
std::string without_torchscript_traceback(std::string_view text) {
  if (text.find("Traceback of TorchScript") == std::string_view::npos) return std::string(text);
  size_t best = std::string_view::npos;
  for (const std::string_view marker : {"\nRuntimeError: ", "\nbuiltins.", "\ntorch.jit.Error: "}) {
    const size_t at = text.rfind(marker);
    if (at != std::string_view::npos && (best == std::string_view::npos || at > best)) best = at;
  }
  if (best == std::string_view::npos) return "the model raised an error";
  std::string_view message = text.substr(best + 1);
  const size_t colon = message.find(": ");
  if (colon != std::string_view::npos) message.remove_prefix(colon + 2);
  return std::string(message);
}

/// LibTorch's allocator throws c10::Error ("DefaultCPUAllocator: can't allocate memory: …"), and
/// TorchScript's interpreter wraps std::bad_alloc.
bool is_out_of_memory(std::string_view text) {
  return text.find("DefaultCPUAllocator: ") != std::string_view::npos ||
         text.find("std::bad_alloc") != std::string_view::npos;
}

std::string trimmed(std::string text) {
  const size_t end = text.find_last_not_of(" \n\r\t");
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text;
}

}  // namespace

std::string message_of_current_exception() {
  try {
    throw;
  } catch (const c10::Error& error) {
    const std::string_view text = error.what_without_backtrace();
    return is_out_of_memory(text) ? kOutOfMemory : trimmed(without_torchscript_traceback(text));
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error.what())) return kOutOfMemory;
    return trimmed(without_torchscript_traceback(error.what()));
  } catch (...) {
    return "unknown error";
  }
}

void set_intra_op_threads(int threads) {
  thread_local int current = 0;
  if (threads == current) return;
  // At a thread's first parallel operator, LibTorch applies the process-wide number, possibly
  // another model's. Reading the number triggers that now, before the thread's own number is set.
  if (current == 0) (void)at::get_num_threads();
  at::set_num_threads(threads);
  current = threads;
}

void silence_warnings() {
  class Silence final : public c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };
  static Silence silence;
  c10::WarningUtils::set_warning_handler(&silence);
}

void keep_memory_between_batches() {
  constexpr int kBytes = 32 << 20;  // maximum of glibc
  mallopt(M_MMAP_THRESHOLD, kBytes);
  mallopt(M_TRIM_THRESHOLD, kBytes);
}

void release_free_memory() { malloc_trim(0); }

size_t resident_memory() {
  // proc(5), statm: total program size, resident set size, … in pages
  size_t program = 0, resident = 0;
  if (std::ifstream("/proc/self/statm") >> program >> resident) {
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

std::string libtorch_version() { return TORCH_VERSION; }

std::string tokenizers_version() { return std::string(tokenizers::tokenizers_version()); }

}  // namespace backend
