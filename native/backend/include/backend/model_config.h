// config.json's entries, read by their own names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace backend {

/// A model that cannot be loaded. The message names the file and the key, for the process output.
class LoadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The entries of a Hugging Face config.json, scalars all: what is nested has its path as its key,
/// such as rope_parameters.full_attention.rope_theta or layer_types.0. null is std::monostate.
class ModelConfig {
 public:
  using Value = std::variant<std::monostate, bool, double, std::string>;

  explicit ModelConfig(std::map<std::string, Value, std::less<>> entries)
      : entries_(std::move(entries)) {}

  /// A positive integer. Throws LoadError when it is missing or anything else.
  int64_t positive_integer(std::string_view key) const;
  /// Of layers: weights may be shared by any number of them, so that no file bounds it.
  int64_t layer_count(std::string_view key) const;
  /// The epsilon of a layer norm.
  double epsilon_or(std::string_view key, double fallback) const;
  /// Finite, and above 0.
  double positive_number_or(std::string_view key, double fallback) const;
  /// The fallback is used when the key is absent or null, never when the value is wrong.
  int64_t integer_or(std::string_view key, int64_t fallback) const;
  /// From 0 on.
  int64_t count_or(std::string_view key, int64_t fallback) const;
  double number_or(std::string_view key, double fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  std::string string_or(std::string_view key, std::string_view fallback) const;

  /// A list of strings; one string with | between them stands for a list too, in lower case, as
  /// DeBERTa's files write it. Empty when the key is absent or null.
  std::vector<std::string> strings(std::string_view key) const;

  /// Throws LoadError when the key is present and is none of the supported values.
  void require_one_of(std::string_view key, std::initializer_list<std::string_view> values) const;

 private:
  const Value* find(std::string_view key) const;  ///< nullptr when absent or null

  std::map<std::string, Value, std::less<>> entries_;
};

}  // namespace backend
