#include "exported/field.h"

#include <limits>

namespace backend {

using hf::JsonKind;

Field Field::operator[](std::string_view key) const {
  if (const auto field = find(key)) return *field;
  refuse("has no " + std::string(key));
}

std::optional<Field> Field::find(std::string_view key) const {
  require(JsonKind::kObject, "an object");
  for (size_t i = 0; i < value_.length(); ++i) {
    if (value_.key(i) != key) continue;
    if (value_.at(i).kind() == JsonKind::kNull) return std::nullopt;
    return Field(value_.at(i), this, value_.key(i), i);
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

Field Field::of_alternative() const { return {value_.at(0), this, alternative(), 0}; }

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
  const std::string where = place();
  throw LoadError(where.empty() ? problem : where + ": " + problem);
}

std::string Field::place() const {
  if (parent_ == nullptr) return {};
  const std::string before = parent_->place();
  if (key_.data() == nullptr || key_.empty()) return before + "[" + std::to_string(index_) + "]";
  return before.empty() ? std::string(key_) : before + "." + std::string(key_);
}

}  // namespace backend
