#pragma once

#include <napi.h>

namespace node {

/// compileExpressions(patterns: string[]): Promise<Expressions>
/// Rejects with the index and the error of the first invalid pattern: `3: unclosed group`.
Napi::Value compile_expressions(const Napi::CallbackInfo& info);

/// findExpressions(expressions: Expressions, text: string, options):
/// Promise<NativeExpressionMatches> Runs on a thread of libuv's pool, because a text may be long.
Napi::Value find_expressions(const Napi::CallbackInfo& info);

}  // namespace node
