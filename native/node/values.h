// Validation and conversion of single JavaScript values. JS thread only.
// Each function throws Napi::TypeError: "Expected X for Y but received Z". `name` is Y.
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

/// Number.MAX_SAFE_INTEGER. Sums and products with small numbers do not overflow 64 bits.
constexpr double kMaxCount = 9'007'199'254'740'991;

/// Inclusive limits.
struct Range {
  double min, max;
};

[[noreturn]] void fail(const Napi::Value& value, const std::string& expected,
                       const std::string& name);

Napi::Object object(const Napi::Value& value, const std::string& name);
std::string text(const Napi::Value& value, const std::string& name);
std::string text(const Napi::Object& from, const char* name);

/// Rejects infinities and NaN.
double number(const Napi::Value& value, const Range& range, const std::string& name);

/// An integer from 1 to `max`.
size_t count(const Napi::Value& value, const std::string& name, double max = kMaxCount);
size_t count(const Napi::Object& from, const char* name, double max = kMaxCount);

/// A matrix dimension. The product of two does not overflow.
int64_t size(const Napi::Object& from, const char* name);

/// An integer from 0.
std::optional<int64_t> id(const Napi::Object& from, const char* name);

/// False if undefined.
bool flag(const Napi::Object& from, const char* name);

std::vector<std::string> texts(const Napi::Object& from, const char* name);
std::vector<int64_t> counts(const Napi::Object& from, const char* name);

/// Converts an array with read(element, name of the element).
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

/// Reads an optional property; a default-constructed value if it is undefined.
template <class Property>
Property optional(Property (*read)(const Napi::Object&, const char*), const Napi::Object& from,
                  const char* name) {
  return from.Get(name).IsUndefined() ? Property() : read(from, name);
}

template <class Choice>
using Named = std::pair<const char*, std::type_identity_t<Choice>>;

/// Converts a name to its value in `choices`. An undefined value gives `default_value`, or an error
/// if that is empty. `before_last`: separator before the last name in the error message.
template <class Choice>
Choice choice(const Napi::Value& value, const std::string& name,
              std::optional<std::type_identity_t<Choice>> default_value,
              std::span<const Named<Choice>> choices, const char* before_last = ", ") {
  if (value.IsUndefined() && default_value) return *default_value;
  const std::string given = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  std::string expected;
  size_t left = choices.size();
  for (const auto& [choice_name, choice_value] : choices) {
    if (given == choice_name) return choice_value;
    expected += '"' + std::string(choice_name) + '"';
    if (--left > 0) expected += left == 1 ? before_last : ", ";
  }
  fail(value, expected, name);
}

}  // namespace node
