// Trying code that may hold instructions which the processor lacks.
#pragma once

#include <csignal>
#include <mutex>
#include <type_traits>

namespace gemm {

/// While one exists, its thread may run() such code. One at a time in the process; others wait. A
/// SIGILL that is not of that code goes where it would have gone.
class IllegalInstructionTrap {
 public:
  IllegalInstructionTrap();
  ~IllegalInstructionTrap();
  IllegalInstructionTrap(const IllegalInstructionTrap&) = delete;
  IllegalInstructionTrap& operator=(const IllegalInstructionTrap&) = delete;

  /// Calls function(), on the thread that made the trap. False: it ended in an illegal instruction.
  /// It is then left by a jump, so nothing that it calls may own anything: no destructor runs.
  template <class Function>
  bool run(const Function& function) {
    static_assert(std::is_nothrow_invocable_v<const Function&>);
    static_assert(std::is_trivially_destructible_v<Function>);
    return run_guarded(
        [](const void* context) noexcept { (*static_cast<const Function*>(context))(); },
        &function);
  }

 private:
  static bool run_guarded(void (*function)(const void*) noexcept, const void* context);

  std::unique_lock<std::mutex> alone_;
  sigset_t mask_;  ///< of the thread, before
};

}  // namespace gemm
