// Settings of the engine's own threads.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace scheduler {

/// Against the event loop, which shares the cores with the engine's threads.
enum class Priority { kEqual, kLower };

/// Names the calling thread for debuggers and `top -H` (15 characters at most), and sets its
/// priority.
inline void set_up_engine_thread(const char* name, Priority priority) {
  pthread_setname_np(pthread_self(), name);
  if (priority == Priority::kEqual) return;
  // On Linux the nice value belongs to the thread. Raising it needs no privilege; should it fail,
  // only the preference is lost.
  constexpr int kNiceness = 10;
  const auto thread_id = static_cast<id_t>(syscall(SYS_gettid));
  const int current = getpriority(PRIO_PROCESS, thread_id);
  (void)setpriority(PRIO_PROCESS, thread_id, current + kNiceness);
}

}  // namespace scheduler
