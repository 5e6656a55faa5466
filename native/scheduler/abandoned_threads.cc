#include "scheduler/abandoned_threads.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include "scheduler/thread_setup.h"

namespace scheduler {
namespace {

std::atomic<size_t> count{0};

/// A function that is leaked unless destroy() is called. Leaking allocates nothing.
union Leaked {
  explicit Leaked(std::function<void()> from) : function(std::move(from)) {}
  ~Leaked() {}  // NOLINT(modernize-use-equals-default): a union's default is deleted
  void destroy() { function.~function(); }

  std::function<void()> function;
};

void exit_immediately(int status, void* /*unused*/) {
  if (count > 0) _exit(status);
}

}  // namespace

size_t abandoned_threads() { return count; }

void join_in_background(std::function<void()> join) {
  ++count;
  // Handlers run in reverse order of registration: this one runs before all existing destructors.
  on_exit(exit_immediately, nullptr);
  Leaked leaked(std::move(join));
  try {
    auto* const owned = new std::function<void()>(leaked.function);
    std::thread([owned] {
      set_up_thread("abandoned", Priority::kEqual);
      (*owned)();
      delete owned;  // frees its resources before exit() runs destructors again
      --count;
    }).detach();
  } catch (const std::exception&) {
    // No thread, or no memory for one: the resources are leaked.
    return;
  }
  leaked.destroy();
}

}  // namespace scheduler
