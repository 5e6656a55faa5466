// JSON documents, parsed by serde_json.
#ifndef HF_JSON_H_
#define HF_JSON_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hf/error.h"
#include "hf/hf.h"

namespace hf {

enum class JsonKind {
  kNull = HF_JSON_NULL,
  kBool = HF_JSON_BOOL,
  kInteger = HF_JSON_INTEGER,
  kNumber = HF_JSON_NUMBER,
  kString = HF_JSON_STRING,
  kArray = HF_JSON_ARRAY,
  kObject = HF_JSON_OBJECT
};

// A value inside a JsonDocument, which must outlive it and the strings that it gives.
class JsonValue {
 public:
  explicit JsonValue(const hf_json* value) : value_(value) {}

  JsonKind kind() const { return static_cast<JsonKind>(hf_json_kind_of(value_)); }

  // Whether it is the same place of the same document.
  bool operator==(const JsonValue& other) const = default;

  // Each of its own kind; of others false, 0, 0.0, "" and 0.
  bool boolean() const { return hf_json_bool(value_); }
  int64_t integer() const { return hf_json_integer(value_); }
  double number() const { return hf_json_number(value_); }  // of an integer too
  std::string_view string() const {
    size_t length = 0;
    const char* const text = hf_json_string(value_, &length);
    return {text, length};
  }
  size_t length() const { return hf_json_length(value_); }

  // index < length(): an element of an array, or an entry of an object.
  JsonValue at(size_t index) const { return JsonValue(hf_json_at(value_, index)); }
  std::string_view key(size_t index) const {
    size_t length = 0;
    const char* const text = hf_json_key(value_, index, &length);
    return {text, length};
  }

 private:
  const hf_json* value_;
};

class JsonDocument {
 public:
  // Throws hf::Error, which says line and column.
  explicit JsonDocument(std::string_view text) : root_(nullptr, hf_json_free) {
    hf_json* root = nullptr;
    char* error = nullptr;
    const hf_status status = hf_json_parse(text.data(), text.size(), &root, &error);
    internal::Check(status, error);
    root_.reset(root);
  }

  JsonValue root() const { return JsonValue(root_.get()); }

 private:
  std::unique_ptr<hf_json, void (*)(hf_json*)> root_;
};

}  // namespace hf

#endif  // HF_JSON_H_
