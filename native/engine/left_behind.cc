#include "engine/left_behind.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "worker_thread.h"

namespace engine {
namespace {

std::atomic<size_t> left_behind{0};

#if defined(__GLIBC__)
void leave_at_once(int status, void* /*unused*/) {
  if (left_behind > 0) _exit(status);
}
#endif

}  // namespace

size_t left_behind_count() { return left_behind; }

void leave_behind(std::function<void()> wait_for_end) {
  ++left_behind;
#if defined(__GLIBC__)
  // What was registered last is called first: before all that is there to be destroyed now.
  on_exit(leave_at_once, nullptr);
#endif
  auto* owned = new std::function<void()>(std::move(wait_for_end));
  try {
    std::thread([owned] {
      set_up_engine_thread("left behind", Priority::kEqual);
      (*owned)();
      delete owned;  // with what it holds, before exit() may take its usual way again
      --left_behind;
    }).detach();
  } catch (const std::system_error&) {
    // No thread can be had, so nobody waits: it stays where it is.
  }
}

}  // namespace engine
