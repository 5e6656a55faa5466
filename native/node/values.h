// JS values read one by one, each with its name for the error. JS thread only.
// Each throws Napi::TypeError: "Expected X for Y but received Z".
#pragma once

#include <napi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace node {

/// What JavaScript's numbers hold without gaps: no sum or product with a small one overflows.
constexpr double kMaxCount = 9'007'199'254'740'991;

struct Range {
  double least, most;
};

[[noreturn]] void fail(const Napi::Value& value, const std::string& expected,
                       const std::string& name);

Napi::Object object(const Napi::Value& value, const std::string& name);
std::string text(const Napi::Value& value, const std::string& name);
std::string text(const Napi::Object& from, const char* name);

/// An infinity is beyond every range, and NaN too.
double number(const Napi::Value& value, const Range& range, const std::string& name);

/// From 1 on.
size_t count(const Napi::Value& value, const std::string& name, double most = kMaxCount);
size_t count(const Napi::Object& from, const char* name, double most = kMaxCount);

/// From 0 on.
std::optional<int64_t> id(const Napi::Object& from, const char* name);

/// Undefined: false.
bool flag(const Napi::Object& from, const char* name);

std::vector<std::string> texts(const Napi::Object& from, const char* name);
std::vector<int64_t> counts(const Napi::Object& from, const char* name);

/// Each read by read(element, its name in an error).
template <class Read>
auto list(const Napi::Value& value, const char* expected, const std::string& name,
          const Read& read) {
  std::vector<decltype(read(value, name))> result;
  if (!value.IsArray()) fail(value, expected, name);
  const auto array = value.As<Napi::Array>();
  result.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) {
    result.push_back(read(array.Get(i), name + "[" + std::to_string(i) + "]"));
  }
  return result;
}

/// Of a property that may be left out: then it is empty.
template <class Property>
Property optional(Property (*read)(const Napi::Object&, const char*), const Napi::Object& from,
                  const char* name) {
  return from.Get(name).IsUndefined() ? Property() : read(from, name);
}

template <class Choice>
using Named = std::pair<const char*, std::type_identity_t<Choice>>;

/// What a name stands for; undefined: `otherwise`, or an error where that is none. `before_last`:
/// in the error, of the names.
template <class Choice>
Choice choice(const Napi::Value& value, const std::string& name,
              std::optional<std::type_identity_t<Choice>> otherwise,
              std::span<const Named<Choice>> choices, const char* before_last = ", ") {
  if (value.IsUndefined() && otherwise) return *otherwise;
  const std::string given = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  std::string expected;
  size_t left = choices.size();
  for (const auto& [known, meant] : choices) {
    if (given == known) return meant;
    expected += '"' + std::string(known) + '"';
    if (--left > 0) expected += left == 1 ? before_last : ", ";
  }
  fail(value, expected, name);
}

}  // namespace node
