// Fields of a JSON file, each of the type that it must have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backend/model_config.h"
#include "hf/json.h"

namespace backend {

/// A value and the document that it is part of, which has to outlive it.
class Field {
 public:
  explicit Field(hf::JsonValue root) : root_(root), value_(root) {}

  /// Of an object. Throws LoadError when it is not there.
  Field operator[](std::string_view key) const;
  /// The same; nothing when it is not there, or null.
  std::optional<Field> find(std::string_view key) const;

  /// Of an object or an array: how many, and one of them. Throws LoadError where there is none.
  size_t size() const;
  Field at(size_t index) const;
  std::string_view key(size_t index) const { return value_.key(index); }

  /// An object of one entry, which says by its key what it is.
  std::string_view alternative() const;
  Field of_alternative() const;

  /// Each throws LoadError for a value of another type.
  int64_t integer() const;
  /// Also "Infinity", "-Infinity" and "NaN", as JSON has none of them.
  double number() const;
  bool boolean() const;
  std::string_view text() const;
  size_t array_size() const;

  /// Throws LoadError: the place, and what is wrong there.
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  Field(hf::JsonValue root, hf::JsonValue value) : root_(root), value_(value) {}

  void require(hf::JsonKind kind, const char* expected) const;

  hf::JsonValue root_;
  hf::JsonValue value_;
};

}  // namespace backend
