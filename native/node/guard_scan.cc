#include "guard_scan.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async_worker.h"
#include "backend/backends.h"
#include "guard/bridge.h"
#include "values.h"

namespace node {
namespace {

using Patterns = rust::Box<guard::Patterns>;
/// Patterns that JavaScript may close or collect while a thread still searches with them.
using SharedPatterns = std::shared_ptr<Patterns>;

/// Maximum size in bytes of a compiled pattern (guard/patterns.rs). Reported to V8, so that it
/// collects unused handles earlier.
constexpr int64_t kMaxPatternBytes = int64_t{2} * 1024 * 1024;

/// Target of a JavaScript handle.
struct Handle {
  SharedPatterns patterns;     ///< null after closePatterns()
  int64_t reported_bytes = 0;  ///< external memory that V8 accounts for

  SharedPatterns take(Napi::Env env) {
    if (reported_bytes != 0) Napi::MemoryManagement::AdjustExternalMemory(env, -reported_bytes);
    reported_bytes = 0;
    return std::move(patterns);
  }
};

struct Compiled {
  SharedPatterns patterns;
  int64_t count = 0;
};

Napi::Value handle(Napi::Env env, Compiled compiled) {
  using Deleter = void (*)(Napi::Env, Handle*);
  const Deleter free = [](Napi::Env env, Handle* held) {
    held->take(env);
    delete held;
  };
  const int64_t bytes = compiled.count * kMaxPatternBytes;
  auto* const held = new Handle{.patterns = std::move(compiled.patterns), .reported_bytes = bytes};
  Napi::MemoryManagement::AdjustExternalMemory(env, bytes);
  return Napi::External<Handle>::New(env, held, free);
}

Handle& handle_argument(const Napi::Value& value) {
  if (!value.IsExternal()) fail(value, "compiled patterns", "patterns");
  return *value.As<Napi::External<Handle>>().Data();
}

/// Uint32Array over the memory of `values`, without a copy: copying the arrays of a long text would
/// block the event loop.
Napi::Uint32Array numbers(Napi::Env env, rust::Vec<uint32_t>&& values) {
  if (values.empty()) return Napi::Uint32Array::New(env, 0);
  auto* held = new rust::Vec<uint32_t>(std::move(values));
  using Deleter = void (*)(Napi::Env, void*, rust::Vec<uint32_t>*);
  const Deleter free = [](Napi::Env, void*, rust::Vec<uint32_t>* held) { delete held; };
  auto buffer =
      Napi::ArrayBuffer::New(env, held->data(), held->size() * sizeof(uint32_t), free, held);
  return Napi::Uint32Array::New(env, held->size(), buffer, 0);
}

Napi::Object variant_object(Napi::Env env, guard::TextVariant& variant) {
  auto object = Napi::Object::New(env);
  object["steps"] = std::string(variant.steps);
  object["part"] = static_cast<double>(variant.part);
  if (variant.steps.empty()) return object;
  const auto* units = reinterpret_cast<const char16_t*>(variant.text.data());
  object["text"] = Napi::String::New(env, units, variant.text.size());
  object["starts"] = numbers(env, std::move(variant.starts));
  object["ends"] = numbers(env, std::move(variant.ends));
  return object;
}

Napi::Value scan_object(Napi::Env env, guard::ScanResult result) {
  auto object = Napi::Object::New(env);
  auto variants = Napi::Array::New(env, result.variants.size());
  for (uint32_t i = 0; i < result.variants.size(); ++i) {
    variants[i] = variant_object(env, result.variants[i]);
  }
  object["variants"] = variants;
  object["matches"] = numbers(env, std::move(result.matches));
  object["stoppedBy"] = std::string(result.stopped_by);
  object["isTruncated"] = result.is_truncated;
  return object;
}

rust::Vec<rust::String> strings(const Napi::Value& value, const std::string& name) {
  rust::Vec<rust::String> strings;
  list(value, "an array of strings", name, [&](const Napi::Value& part, const std::string& place) {
    strings.push_back(rust::String::lossy(text(part, place)));
    return 0;
  });
  return strings;
}

}  // namespace

Napi::Value compile_patterns(const Napi::CallbackInfo& info) {
  rust::Vec<guard::PatternSource> sources;
  list(info[0], "an array of patterns", "sources",
       [&](const Napi::Value& value, const std::string& name) {
         const auto source = object(value, name);
         sources.push_back(
             {.is_kind = flag(source, "isKind"), .text = rust::String(text(source, "text"))});
         return 0;
       });
  return AsyncWorker<Compiled>::run(
      info.Env(),
      [sources = std::move(sources)] {
        return Compiled{.patterns = std::make_shared<Patterns>(guard::compile_patterns(sources)),
                        .count = static_cast<int64_t>(sources.size())};
      },
      handle);
}

Napi::Value close_patterns(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return AsyncWorker<bool>::run(
      env,
      [patterns = handle_argument(info[0]).take(env)]() mutable {
        patterns.reset();
        backend::release_free_memory();
        return true;
      },
      [](Napi::Env env, bool) -> Napi::Value { return env.Undefined(); });
}

Napi::Value scan(const Napi::CallbackInfo& info) {
  const SharedPatterns patterns = handle_argument(info[0]).patterns;
  if (!patterns) throw Napi::Error::New(info.Env(), "the patterns are closed: compile them again");
  auto parts = strings(info[1], "parts");
  const auto given = object(info[2], "options");
  const guard::ScanOptions options{
      .normalized = flag(given, "normalized"),
      .decoded = flag(given, "decoded"),
      .joined = flag(given, "joined"),
      .max_variants = count(given, "maxVariants"),
      .max_matches = count(given, "maxMatches"),
      .timeout_ms = number(given.Get("timeoutMs"), {.min = 0, .max = kMaxCount}, "timeoutMs"),
  };
  return AsyncWorker<guard::ScanResult>::run(
      info.Env(),
      [patterns, parts = std::move(parts), options] { return (*patterns)->scan(parts, options); },
      scan_object);
}

}  // namespace node
