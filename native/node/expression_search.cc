#include "expression_search.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "async_worker.h"
#include "guard/bridge.h"
#include "values.h"

namespace node {
namespace {

using Expressions = std::shared_ptr<rust::Box<guard::Expressions>>;

Napi::Value handle(Napi::Env env, Expressions expressions) {
  using Deleter = void (*)(Napi::Env, Expressions*);
  const Deleter free = [](Napi::Env, Expressions* held) { delete held; };
  return Napi::External<Expressions>::New(env, new Expressions(std::move(expressions)), free);
}

Napi::Uint32Array numbers(Napi::Env env, const rust::Vec<uint32_t>& values) {
  auto array = Napi::Uint32Array::New(env, values.size());
  std::copy(values.begin(), values.end(), array.Data());
  return array;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): AsyncWorker passes results by value
Napi::Value found_object(Napi::Env env, guard::FoundExpressions found) {
  auto object = Napi::Object::New(env);
  object["matches"] = numbers(env, found.matches);
  object["incomplete"] = numbers(env, found.incomplete);
  return object;
}

}  // namespace

Napi::Value compile_expressions(const Napi::CallbackInfo& info) {
  rust::Vec<rust::String> patterns;
  list(info[0], "an array of strings", "patterns",
       [&](const Napi::Value& pattern, const std::string& name) {
         patterns.push_back(rust::String::lossy(text(pattern, name)));
         return 0;
       });
  return AsyncWorker<Expressions>::run(
      info.Env(),
      [patterns = std::move(patterns)] {
        return std::make_shared<rust::Box<guard::Expressions>>(
            guard::compile_expressions(patterns));
      },
      handle);
}

Napi::Value find_expressions(const Napi::CallbackInfo& info) {
  if (!info[0].IsExternal()) fail(info[0], "compiled expressions", "expressions");
  const Expressions expressions = *info[0].As<Napi::External<Expressions>>().Data();
  auto searched = rust::String::lossy(text(info[1], "text"));
  const auto given = object(info[2], "options");
  const size_t max_matches = count(given, "maxMatches");
  const double timeout = number(given.Get("timeoutMs"), {.min = 0, .max = kMaxCount}, "timeoutMs");
  return AsyncWorker<guard::FoundExpressions>::run(
      info.Env(),
      [expressions, searched = std::move(searched), max_matches, timeout] {
        return (*expressions)->find_all(searched, max_matches, timeout);
      },
      found_object);
}

}  // namespace node
