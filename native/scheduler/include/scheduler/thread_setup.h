// Name and priority of the scheduler's threads.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace scheduler {

/// Priority relative to the event loop, which uses the same cores.
enum class Priority { kEqual, kLower };

/// Sets the priority and the name of the calling thread. Debuggers and `top -H` show the name,
/// which has 15 characters at most.
inline void set_up_thread(const char* name, Priority priority) {
  pthread_setname_np(pthread_self(), name);
  if (priority == Priority::kEqual) return;
  // On Linux the nice value belongs to the thread. Raising it needs no privilege. A failure only
  // costs the preference.
  constexpr int kNiceness = 10;
  const auto thread_id = static_cast<id_t>(syscall(SYS_gettid));
  const int current = getpriority(PRIO_PROCESS, thread_id);
  (void)setpriority(PRIO_PROCESS, thread_id, current + kNiceness);
}

}  // namespace scheduler
