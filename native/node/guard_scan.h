#pragma once

#include <napi.h>

namespace node {

/// compilePatterns(sources: { isKind: boolean, text: string }[]): Promise<Patterns>
/// Rejects with the index and the error of the first invalid pattern: `3: unclosed group`.
Napi::Value compile_patterns(const Napi::CallbackInfo& info);

/// closePatterns(patterns: Patterns): Promise<void>
/// Frees the patterns after the calls of scan() in progress, even if JavaScript still references
/// them. Further calls have no effect.
Napi::Value close_patterns(const Napi::CallbackInfo& info);

/// scan(patterns: Patterns, parts: string[], options): Promise<NativeScan>
/// Searches texts and their normalization variants. Throws after closePatterns(). Runs on a thread
/// of libuv's pool, because a text may be long.
Napi::Value scan(const Napi::CallbackInfo& info);

}  // namespace node
