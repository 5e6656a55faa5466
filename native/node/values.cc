#include "values.h"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace node {
namespace {

std::string received(const Napi::Value& value) {
  switch (value.Type()) {
    case napi_undefined:
      return "undefined";
    case napi_null:
      return "null";
    case napi_boolean:
      return "a boolean";
    case napi_number:
      return "the number " + value.ToString().Utf8Value();
    case napi_string:
      return "a string";
    case napi_function:
      return "a function";
    default:
      return "an object";
  }
}

}  // namespace

void fail(const Napi::Value& value, const std::string& expected, const std::string& name) {
  throw Napi::TypeError::New(
      value.Env(), "Expected " + expected + " for " + name + " but received " + received(value));
}

Napi::Object object(const Napi::Value& value, const std::string& name) {
  if (!value.IsObject()) fail(value, "an object", name);
  return value.As<Napi::Object>();
}

std::string text(const Napi::Value& value, const std::string& name) {
  if (!value.IsString()) fail(value, "a string", name);
  return value.As<Napi::String>().Utf8Value();
}

std::string text(const Napi::Object& from, const char* name) { return text(from.Get(name), name); }

double number(const Napi::Value& value, const Range& range, const std::string& name) {
  const double given = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (!(given >= range.min && given <= range.max)) {
    std::ostringstream expected;
    expected << std::setprecision(16) << "a number from " << range.min << " to " << range.max;
    fail(value, expected.str(), name);
  }
  return given;
}

size_t count(const Napi::Value& value, const std::string& name, double max) {
  return static_cast<size_t>(number(value, {.min = 1, .max = max}, name));
}

size_t count(const Napi::Object& from, const char* name, double max) {
  return count(from.Get(name), name, max);
}

int64_t size(const Napi::Object& from, const char* name) {
  constexpr double kMaxSize = 1 << 24;
  return static_cast<int64_t>(count(from, name, kMaxSize));
}

std::optional<int64_t> id(const Napi::Object& from, const char* name) {
  return static_cast<int64_t>(number(from.Get(name), {.min = 0, .max = kMaxCount}, name));
}

bool flag(const Napi::Object& from, const char* name) {
  const Napi::Value value = from.Get(name);
  if (value.IsUndefined()) return false;
  if (!value.IsBoolean()) fail(value, "a boolean", name);
  return value.As<Napi::Boolean>().Value();
}

std::vector<std::string> texts(const Napi::Object& from, const char* name) {
  return list(from.Get(name), "an array of strings", name,
              [](const auto&... element) { return text(element...); });
}

std::vector<int64_t> counts(const Napi::Object& from, const char* name) {
  return list(from.Get(name), "an array of numbers", name,
              [](const auto&... element) { return static_cast<int64_t>(count(element...)); });
}

}  // namespace node
