#pragma once

#include <napi.h>

namespace node {

/// rowsToJson(values: Float32Array, columns: number): Promise<{ text: Buffer, ends: Uint32Array }>
/// Serializes each row as a JSON array and concatenates the arrays. Each number has the fewest
/// decimals that parse to the same float32. `ends`: end offset of each row in `text`, in bytes.
/// Large arrays are serialized on a thread of libuv's pool. All values must be finite.
Napi::Value rows_to_json(const Napi::CallbackInfo& info);

}  // namespace node
