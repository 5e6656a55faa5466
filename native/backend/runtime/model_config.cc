#include "backend/model_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "common/error.h"

namespace backend {
namespace {

std::string shown(const ModelConfig::Value& value) {
  constexpr size_t kLongest = 200;
  if (const auto* text = std::get_if<std::string>(&value)) {
    return '"' + (text->size() > kLongest ? text->substr(0, kLongest) + "…" : *text) + '"';
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&value)) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.15g", *number);
    if (std::strtod(digits.data(), nullptr) != *number) {
      std::snprintf(digits.data(), digits.size(), "%.17g", *number);
    }
    return digits.data();
  }
  return "null";
}

/// All of a value: texts of different values differ.
std::string described(const ModelConfig::Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? '"' + *text : shown(value);
}

[[noreturn]] void fail(std::string_view key, const std::string& expected,
                       const ModelConfig::Value* value) {
  throw common::LoadError("config.json: " + std::string(key) + ": expected " + expected +
                          (value ? ", received " + shown(*value) : ", but it is missing"));
}

}  // namespace

const ModelConfig::Value* ModelConfig::find(std::string_view key) const {
  const auto it = entries_.find(key);
  const bool is_set = it != entries_.end() && !std::holds_alternative<std::monostate>(it->second);
  if (lookups_ != nullptr) {
    const std::string value = is_set ? described(it->second) : "unset";
    *lookups_ += std::to_string(key.size()) + " " + std::string(key) + " " +
                 std::to_string(value.size()) + " " + value + " ";
  }
  return is_set ? &it->second : nullptr;
}

ModelConfig ModelConfig::recording_to(std::string& lookups) const {
  ModelConfig copy = *this;
  copy.lookups_ = &lookups;
  return copy;
}

int64_t ModelConfig::positive_integer(std::string_view key) const {
  const Value* value = find(key);
  const auto* number = value ? std::get_if<double>(value) : nullptr;
  constexpr double kLargest = 1e9;  // larger than any count in a configuration
  if (!number || *number < 1 || *number > kLargest || std::floor(*number) != *number) {
    fail(key, "a positive integer", value);
  }
  return static_cast<int64_t>(*number);
}

int64_t ModelConfig::integer_or(std::string_view key, int64_t fallback) const {
  const Value* value = find(key);
  if (!value) return fallback;
  const auto* number = std::get_if<double>(value);
  if (!number || std::abs(*number) > 1e9 || std::floor(*number) != *number) {
    fail(key, "an integer", value);
  }
  return static_cast<int64_t>(*number);
}

int64_t ModelConfig::count_or(std::string_view key, int64_t fallback) const {
  const int64_t count = integer_or(key, fallback);
  if (count < 0) fail(key, "0 or more", find(key));
  return count;
}

int64_t ModelConfig::layer_count(std::string_view key) const {
  constexpr int64_t kMax = 1000;
  const int64_t count = positive_integer(key);
  if (count > kMax) fail(key, "at most " + std::to_string(kMax), find(key));
  return count;
}

double ModelConfig::epsilon_or(std::string_view key, double fallback) const {
  const double epsilon = number_or(key, fallback);
  if (!(epsilon >= 0 && epsilon <= 1)) fail(key, "a number from 0 to 1", find(key));
  return epsilon;
}

double ModelConfig::positive_number_or(std::string_view key, double fallback) const {
  const double number = number_or(key, fallback);
  if (!(number > 0 && std::isfinite(number))) fail(key, "a number above 0", find(key));
  return number;
}

double ModelConfig::number_or(std::string_view key, double fallback) const {
  const Value* value = find(key);
  if (!value) return fallback;
  const auto* number = std::get_if<double>(value);
  if (!number) fail(key, "a number", value);
  return *number;
}

std::string ModelConfig::string_or(std::string_view key, std::string_view fallback) const {
  const Value* value = find(key);
  if (!value) return std::string(fallback);
  const auto* text = std::get_if<std::string>(value);
  if (!text) fail(key, "a string", value);
  return *text;
}

bool ModelConfig::boolean_or(std::string_view key, bool fallback) const {
  const Value* value = find(key);
  if (!value) return fallback;
  const auto* flag = std::get_if<bool>(value);
  if (!flag) fail(key, "true or false", value);
  return *flag;
}

std::vector<std::string> ModelConfig::strings(std::string_view key) const {
  std::vector<std::string> result;
  if (find(key)) {
    std::istringstream joined(string_or(key, ""));
    for (std::string part; std::getline(joined, part, '|');) {
      std::erase_if(part, [](unsigned char c) { return std::isspace(c) != 0; });
      std::ranges::transform(part, part.begin(), [](unsigned char c) { return std::tolower(c); });
      result.push_back(part);
    }
    return result;
  }
  for (size_t i = 0;; ++i) {
    const std::string element = std::string(key) + "." + std::to_string(i);
    if (!find(element)) return result;
    result.push_back(string_or(element, ""));
  }
}

void ModelConfig::require_one_of(std::string_view key,
                                 std::initializer_list<std::string_view> values) const {
  const Value* value = find(key);
  if (!value) return;
  const auto* text = std::get_if<std::string>(value);
  if (text && std::find(values.begin(), values.end(), *text) != values.end()) return;
  std::string expected;
  for (const auto& one : values) expected += (expected.empty() ? "" : " or ") + std::string(one);
  fail(key, expected, value);
}

}  // namespace backend
