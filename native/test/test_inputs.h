// Inputs of the scheduler's suites: texts whose characters are tokens.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/input.h"

namespace scheduler::test {

/// Content of an input of the tests.
struct Text {
  std::string text;
  std::string pair{};     // NOLINT(readability-redundant-member-init): -Wmissing-field-initializers
  bool must_fit = false;  ///< the input is too long for the model
  bool needs_run = true;  ///< false: its preparation is the response
  size_t count = 1;       ///< see Input::count()
};

/// A Text as the scheduler transports it.
class TextInput final : public Input {
 public:
  explicit TextInput(Text from) : content(std::move(from)) {}
  size_t bytes() const override { return content.text.size() + content.pair.size(); }
  size_t count() const override { return content.count; }
  const Text content;
};

inline InputPtr input_of(Text text) { return std::make_unique<TextInput>(std::move(text)); }

inline std::vector<InputPtr> inputs_of(const std::vector<Text>& texts) {
  std::vector<InputPtr> inputs;
  inputs.reserve(texts.size());
  for (const Text& text : texts) inputs.push_back(input_of(text));
  return inputs;
}

inline const Text& text_of(const InputPtr& input) {
  return static_cast<const TextInput&>(*input).content;
}

/// A prepared text: each character is a token.
class Characters final : public PreparedInput {
 public:
  explicit Characters(std::string from, bool is_run = true)
      : text(std::move(from)), needs_run_(is_run) {}
  size_t cost() const override { return std::max(text.size(), size_t{1}); }
  bool needs_run() const override { return needs_run_; }
  void add_to(SipHash128& hash) const override {
    hash.add(text.size());
    for (const char each : text) hash.add(static_cast<uint64_t>(each));
  }
  const std::string text;

 private:
  bool needs_run_;
};

inline const std::string& text_of(const PreparedInput* input) {
  return static_cast<const Characters*>(input)->text;
}

}  // namespace scheduler::test
