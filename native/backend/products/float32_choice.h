// Which of two exact ways to multiply float32 numbers is used.
#pragma once

namespace backend {

/// Whether sums of bfloat16 numbers multiplied by AMX are faster here than float32 itself, by
/// enough to be worth it. Measured at the first call, where there is AMX at all: some milliseconds.
/// The same for every layer and every number of rows, so that no answer depends on what it shares a
/// batch with.
bool float32_is_faster_split();

}  // namespace backend
