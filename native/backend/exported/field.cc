#include "exported/field.h"

#include <limits>

namespace backend {

using hf::JsonKind;
using hf::JsonValue;

namespace {

/// Adds to `place` where `value` lies below `from`. Looked for when something is wrong alone.
bool find_place(JsonValue from, JsonValue value, std::string& place) {
  if (from == value) return true;
  const bool is_object = from.kind() == JsonKind::kObject;
  const size_t before = place.size();
  for (size_t i = 0; i < from.length(); ++i) {
    if (is_object) {
      if (!place.empty()) place += '.';
      place += from.key(i);
    } else {
      place += "[" + std::to_string(i) + "]";
    }
    if (find_place(from.at(i), value, place)) return true;
    place.resize(before);
  }
  return false;
}

}  // namespace

Field Field::operator[](std::string_view key) const {
  if (const auto field = find(key)) return *field;
  refuse("has no " + std::string(key));
}

std::optional<Field> Field::find(std::string_view key) const {
  require(JsonKind::kObject, "an object");
  for (size_t i = 0; i < value_.length(); ++i) {
    if (value_.key(i) != key) continue;
    if (value_.at(i).kind() == JsonKind::kNull) return std::nullopt;
    return Field(root_, value_.at(i));
  }
  return std::nullopt;
}

size_t Field::size() const {
  if (value_.kind() != JsonKind::kArray) require(JsonKind::kObject, "an object or an array");
  return value_.length();
}

size_t Field::array_size() const {
  require(JsonKind::kArray, "an array");
  return value_.length();
}

std::string_view Field::alternative() const {
  require(JsonKind::kObject, "an object");
  if (value_.length() != 1) refuse("expected one entry, found " + std::to_string(value_.length()));
  return value_.key(0);
}

Field Field::at(size_t index) const {
  if (index >= size()) refuse("has no entry " + std::to_string(index));
  return {root_, value_.at(index)};
}

Field Field::of_alternative() const {
  alternative();
  return {root_, value_.at(0)};
}

int64_t Field::integer() const {
  require(JsonKind::kInteger, "an integer");
  return value_.integer();
}

double Field::number() const {
  if (value_.kind() == JsonKind::kString) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (value_.string() == "Infinity") return kInfinity;
    if (value_.string() == "-Infinity") return -kInfinity;
    if (value_.string() == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  if (value_.kind() != JsonKind::kInteger) require(JsonKind::kNumber, "a number");
  return value_.number();
}

bool Field::boolean() const {
  require(JsonKind::kBool, "true or false");
  return value_.boolean();
}

std::string_view Field::text() const {
  require(JsonKind::kString, "a string");
  return value_.string();
}

void Field::require(JsonKind kind, const char* expected) const {
  if (value_.kind() != kind) refuse(std::string("expected ") + expected);
}

void Field::refuse(const std::string& problem) const {
  std::string place;
  find_place(root_, value_, place);
  throw LoadError(place.empty() ? problem : place + ": " + problem);
}

}  // namespace backend
