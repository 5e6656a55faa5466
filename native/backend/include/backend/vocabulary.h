#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace backend {

/// What the tokens of a text model are called. Any thread.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  /// What an id stands for; empty: for nothing.
  virtual std::string token(uint32_t id) const = 0;

  /// The text that tokens stand for together. Throws scheduler::BackendError.
  virtual std::string join(const std::vector<std::string>& tokens) const = 0;

  /// Whether tokens that go on with a word are marked as such.
  virtual bool marks_continued_words() const = 0;

  /// Of the token for what the vocabulary does not have.
  virtual std::optional<uint32_t> unknown_id() const = 0;
};

}  // namespace backend
