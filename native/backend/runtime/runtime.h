// LibTorch in this process: error messages, per-thread settings and memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "backend/backends.h"

namespace backend {

/// Message of the exception that is being handled, without LibTorch's backtrace and TorchScript's
/// traceback. Call it only inside a catch block.
std::string message_of_current_exception();

/// Message of all out-of-memory errors.
inline constexpr const char* kOutOfMemory = "out of memory";

/// Text of the first run of a text model on each thread. Its length is typical, because its
/// duration initializes the throughput estimate.
inline constexpr std::string_view kWarmUpText =
    "Whoever reads this first will wait for nothing: a sentence of about twenty words, as people "
    "write them every day.";

/// Sets the number of intra-op threads for the calling thread. Cheap if the number is unchanged.
void set_intra_op_threads(int threads);

/// Disables LibTorch's warnings on the calling thread, which could write request data to the log.
void silence_warnings();

/// Resident set size in bytes; the peak if /proc is not available. Takes microseconds. Thread-safe.
size_t resident_memory();

/// Lets malloc keep memory that a batch has freed, up to 32 MiB in each arena. Otherwise it is
/// returned to the system, and the next batch faults in every page again.
void keep_memory_between_batches();

}  // namespace backend
