// A library for LD_PRELOAD: makes allocations and threads of a service fail.
//
// FAULTS_CONTROL is the path of a file that the test writes and this library maps, see Control and
// test/helpers/faults.ts.
//
// operator new can fail, and posix_memalign, with which libc10 of LibTorch allocates tensors.
// Allocations never fail if a failure would end the process by design: those of Node.js and V8, and
// those by malloc of Rust (the tokenizer) and oneDNN (in LibTorch).
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

// glibc's own name of it. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" void* __libc_memalign(size_t alignment, size_t size);

namespace {

/// Content of the control file, little-endian. test/helpers/faults.ts writes it.
struct Control {
  std::atomic<int64_t>
      failing_allocation;               ///< number of the allocation that fails, from 1; 0: none
  std::atomic<int64_t> allocations;     ///< counted so far
  std::atomic<int64_t> failing_thread;  ///< likewise for threads that std::thread creates
  std::atomic<int64_t> threads;
  /// Name of the threads whose allocations are counted; or the addon's allocations on the event
  /// loop.
  char thread_name[16];
};
constexpr const char* kEventLoop = "event loop";

constexpr int kMaxFrames = 16;

Control* control = nullptr;
uintptr_t program_begin = 0;
uintptr_t program_end = 0;
// Static TLS: access allocates nothing.
__attribute__((tls_model("initial-exec"))) thread_local char name_of_thread[16];
__attribute__((tls_model("initial-exec"))) thread_local bool is_looking = false;

/// Address range of the executable: Node.js and V8.
int find_program(dl_phdr_info* info, size_t, void*) {
  program_begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    program_begin = std::min(program_begin, begin);
    program_end = std::max(program_end, begin + header.p_memsz);
  }
  return 1;  // the executable is the first object
}

__attribute__((constructor)) void open_control() {
  dl_iterate_phdr(find_program, nullptr);
  void* frame = nullptr;
  backtrace(&frame, 1);  // the first call loads a library
  std::strncpy(name_of_thread, kEventLoop, sizeof name_of_thread - 1);
  const char* const path = std::getenv("FAULTS_CONTROL");
  if (path == nullptr) return;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) std::abort();
  void* const mapped = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) std::abort();
  control = static_cast<Control*>(mapped);
}

/// Finds a library by its file name. dladdr() would also search the symbol, which takes
/// milliseconds in LibTorch.
bool is_in(const void* address, const char* library) {
  dl_find_object found{};
  return _dl_find_object(const_cast<void*>(address), &found) == 0 &&
         std::strstr(found.dlfo_link_map->l_name, library) != nullptr;
}

/// True if the caller is the addon, directly or through libstdc++.
bool addon_asks() {
  void* frames[kMaxFrames];
  const int count = backtrace(frames, kMaxFrames);
  for (int i = 0; i < count; ++i) {
    if (is_in(frames[i], "faults_preload") || is_in(frames[i], "libstdc++")) continue;
    return is_in(frames[i], "libtorch_serve.node");
  }
  return false;
}

bool is_armed() { return control != nullptr && !is_looking && control->failing_allocation != 0; }

bool is_refused(const void* caller) {
  if (!is_armed()) return false;
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (address >= program_begin && address < program_end) return false;
  if (std::strcmp(name_of_thread, control->thread_name) != 0) return false;
  if (std::strcmp(name_of_thread, kEventLoop) == 0) {
    is_looking = true;
    const bool counts = addon_asks();
    is_looking = false;
    if (!counts) return false;
  }
  return ++control->allocations == control->failing_allocation;
}

void* new_or_null(size_t size, const void* caller) {
  return is_refused(caller) ? nullptr : std::malloc(size == 0 ? 1 : size);
}

void* new_or_throw(size_t size, const void* caller) {
  void* const memory = new_or_null(size, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define EXPORTED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

EXPORTED void* operator new(size_t size) { return new_or_throw(size, CALLER); }
EXPORTED void* operator new[](size_t size) { return new_or_throw(size, CALLER); }
EXPORTED void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return new_or_null(size, CALLER);
}
EXPORTED void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return new_or_null(size, CALLER);
}
EXPORTED void operator delete(void* memory) noexcept { std::free(memory); }
EXPORTED void operator delete[](void* memory) noexcept { std::free(memory); }
EXPORTED void operator delete(void* memory, size_t) noexcept { std::free(memory); }
EXPORTED void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

extern "C" {

EXPORTED int posix_memalign(void** memory, size_t alignment, size_t size) {
  const void* const caller = CALLER;
  if (is_armed() && is_in(caller, "libc10.so") && is_refused(caller)) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

EXPORTED int pthread_setname_np(pthread_t thread, const char* name) {
  using SetName = int (*)(pthread_t, const char*);
  static const auto set_name = reinterpret_cast<SetName>(dlsym(RTLD_NEXT, "pthread_setname_np"));
  if (pthread_equal(thread, pthread_self()) != 0) {
    std::strncpy(name_of_thread, name, sizeof name_of_thread - 1);
  }
  return set_name(thread, name);
}

EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                            void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (control != nullptr && control->failing_thread != 0 && is_in(CALLER, "libstdc++") &&
      ++control->threads == control->failing_thread) {
    return EAGAIN;
  }
  return create(thread, attributes, start, argument);
}

}  // extern "C"
