#include "illegal_instruction.h"

#include <pthread.h>

#include <atomic>
#include <csetjmp>

namespace gemm {
namespace {

std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

/// Not thread-local: a signal handler may not be the first to touch what is.
struct sigaction previous;
sigjmp_buf before;
pthread_t trying_thread;
std::atomic<bool> trying{false};

/// What would have happened without us.
void pass_on(int signal, siginfo_t* info, void* context) {
  const bool is_sent = info->si_code <= 0;  // by kill() and the like; else by an instruction
  if (previous.sa_handler == SIG_IGN && is_sent) return;
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    if ((static_cast<unsigned>(previous.sa_flags) & SA_SIGINFO) != 0)
      return previous.sa_sigaction(signal, info, context);
    return previous.sa_handler(signal);
  }
  struct sigaction fatal = {};
  fatal.sa_handler = SIG_DFL;
  sigaction(signal, &fatal, nullptr);
  raise(signal);  // blocked until this handler returns
}

void on_illegal_instruction(int signal, siginfo_t* info, void* context) {
  if (trying.load() && pthread_equal(pthread_self(), trying_thread) != 0) siglongjmp(before, 1);
  pass_on(signal, info, context);
}

}  // namespace

IllegalInstructionTrap::IllegalInstructionTrap() : alone_(one_at_a_time()) {
  // First, so that the handler never sees half of it.
  sigaction(SIGILL, nullptr, &previous);
  struct sigaction ours = {};
  ours.sa_sigaction = on_illegal_instruction;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGILL, &ours, nullptr);
  // A signal of an instruction that is blocked ends the process.
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGILL);
  pthread_sigmask(SIG_UNBLOCK, &wanted, &mask_);
}

IllegalInstructionTrap::~IllegalInstructionTrap() {
  pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  struct sigaction now;
  sigaction(SIGILL, nullptr, &now);
  // Unless somebody has put a handler of theirs in front of ours, which then passes everything on.
  if (now.sa_sigaction == on_illegal_instruction) sigaction(SIGILL, &previous, nullptr);
}

bool IllegalInstructionTrap::run_guarded(void (*function)(const void*) noexcept,
                                         const void* context) {
  trying_thread = pthread_self();
  if (sigsetjmp(before, 1) != 0) {
    trying.store(false);
    return false;
  }
  trying.store(true);
  function(context);
  trying.store(false);
  return true;
}

}  // namespace gemm
