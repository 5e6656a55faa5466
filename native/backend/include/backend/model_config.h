// Entries of config.json.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace backend {

/// Entries of a Hugging Face config.json. All are scalars: a nested entry has its path as key, for
/// example rope_parameters.full_attention.rope_theta or layer_types.0. std::monostate is null.
class ModelConfig {
 public:
  using Value = std::variant<std::monostate, bool, double, std::string>;

  explicit ModelConfig(std::map<std::string, Value, std::less<>> entries)
      : entries_(std::move(entries)) {}

  /// A positive integer. Throws LoadError if it is missing or another value.
  int64_t positive_integer(std::string_view key) const;
  /// Number of layers, at most 1,000. Layers may share weights, so no file size limits it.
  int64_t layer_count(std::string_view key) const;
  /// Epsilon of a layer norm.
  double epsilon_or(std::string_view key, double fallback) const;
  /// A finite number above 0.
  double positive_number_or(std::string_view key, double fallback) const;
  /// `fallback` is returned if the key is absent or null, never for an invalid value.
  int64_t integer_or(std::string_view key, int64_t fallback) const;
  /// An integer of 0 or more.
  int64_t count_or(std::string_view key, int64_t fallback) const;
  double number_or(std::string_view key, double fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  std::string string_or(std::string_view key, std::string_view fallback) const;

  /// A list of strings, or a string separated by '|' in lower case (DeBERTa); empty if the key is
  /// absent or null.
  std::vector<std::string> strings(std::string_view key) const;

  /// Throws LoadError if the key is present with another value.
  void require_one_of(std::string_view key, std::initializer_list<std::string_view> values) const;

  /// A copy that adds the name and value of every entry that is looked up to `lookups`, which must
  /// outlive the copy.
  ModelConfig recording_to(std::string& lookups) const;

 private:
  const Value* find(std::string_view key) const;  ///< null if absent or null

  std::map<std::string, Value, std::less<>> entries_;
  std::string* lookups_ = nullptr;  ///< see recording_to(); null: lookups are not recorded
};

}  // namespace backend
