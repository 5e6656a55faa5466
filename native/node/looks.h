#pragma once

#include <napi.h>

namespace node {

/// compilePatterns(sources: { isKind: boolean, text: string }[]): Promise<Patterns>
/// Rejects naming the first bad one by its place: `3: unclosed group`.
Napi::Value compile_patterns(const Napi::CallbackInfo& info);

/// closePatterns(patterns: Patterns): Promise<void>
/// Frees them whatever JavaScript refers to, after the looks that are under way. May be repeated.
Napi::Value close_patterns(const Napi::CallbackInfo& info);

/// look(patterns: Patterns, parts: string[], options): Promise<Looked>
/// Throws once they are closed. Always on a thread of libuv's pool: a client's text may be long.
Napi::Value look(const Napi::CallbackInfo& info);

}  // namespace node
