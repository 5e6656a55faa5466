#include "scheduler/detached.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include "worker_thread.h"

namespace scheduler {
namespace {

std::atomic<size_t> detached{0};

/// Holds what it is given for ever, if it is not told otherwise: that takes no memory.
union Kept {
  explicit Kept(std::function<void()> given) : function(std::move(given)) {}
  ~Kept() {}  // NOLINT(modernize-use-equals-default): a union's would be deleted
  void let_go() { function.~function(); }

  std::function<void()> function;
};

void leave_at_once(int status, void* /*unused*/) {
  if (detached > 0) _exit(status);
}

}  // namespace

size_t detached_threads() { return detached; }

void await_detached(std::function<void()> wait_for_end) {
  ++detached;
  // What was registered last is called first: before all that is there to be destroyed now.
  on_exit(leave_at_once, nullptr);
  Kept kept(std::move(wait_for_end));
  try {
    auto* const owned = new std::function<void()>(kept.function);
    std::thread([owned] {
      set_up_engine_thread("left behind", Priority::kEqual);
      (*owned)();
      delete owned;  // with what it holds, before exit() may take its usual way again
      --detached;
    }).detach();
  } catch (const std::exception&) {
    // No thread can be had, or no memory for one, so nobody waits: it stays where it is.
    return;
  }
  kept.let_go();
}

}  // namespace scheduler
