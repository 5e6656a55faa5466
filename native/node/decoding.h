// Decoding of token IDs to texts, on libuv's threads.
#pragma once

#include <napi.h>

#include <memory>

#include "backend/vocabulary.h"

namespace node {

/// NativeEngine.decode of src/native/binding.ts: (ids: Uint32Array, ends: Uint32Array,
/// skipSpecialTokens: boolean) => Promise<(string | number)[]>. JS thread.
Napi::Value decode(const Napi::CallbackInfo& info,
                   std::shared_ptr<const backend::Vocabulary> vocabulary);

}  // namespace node
