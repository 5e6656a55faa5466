// LibTorch in this process: error texts and per-thread settings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "backend/memory.h"

namespace backend {

/// The message of the exception being handled, without LibTorch's backtrace and without the
/// TorchScript traceback: the words of the one who raised it. Call inside a catch block only.
std::string message_of_current_exception();

/// That message where memory could not be had, whoever asked for it.
inline constexpr const char* kOutOfMemory = "out of memory";

/// What a text model runs first on each thread: of a usual length, so that the time it takes says
/// something of the texts to come.
inline constexpr std::string_view kWarmUpText =
    "Whoever reads this first will wait for nothing: a sentence of about twenty words, as people "
    "write them every day.";

/// Intra-op threads of the calling thread, on which models take turns. The setting belongs to the
/// thread, not to the process; to set it anew takes nothing.
void set_intra_op_threads(int threads);

/// On the calling thread LibTorch warns of nothing from now on: a model must not write to the log
/// of what it is given.
void silence_warnings();

/// Bytes of this process in memory now; where /proc does not tell, the most there ever were.
/// Microseconds. Any thread.
size_t resident_memory();

/// Lets malloc keep what a batch has freed, up to 32 MiB in each thread's heap, for the next batch.
/// Otherwise it goes back to the system in between, and every page is faulted in anew.
void keep_memory_between_batches();

}  // namespace backend
