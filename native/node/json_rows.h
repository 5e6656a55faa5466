#pragma once

#include <napi.h>

namespace node {

/// rowsToJson(values: Float32Array, columns: number): Promise<{ text: Buffer, ends: Uint32Array }>
/// A JSON array for each row, one behind the other, each number with the fewest decimals that give
/// the same float; where in the text each row ends. Many are written on a thread of libuv's pool.
/// Numbers have to be finite.
Napi::Value rows_to_json(const Napi::CallbackInfo& info);

}  // namespace node
