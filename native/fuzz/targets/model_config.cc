#include "backend/model_config.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

#include "common/error.h"
#include "targets.h"

namespace fuzz {
namespace {

using backend::ModelConfig;
using Entries = std::map<std::string, ModelConfig::Value, std::less<>>;

ModelConfig::Value value_of(const std::string& text) {
  if (text.starts_with('"')) return text.substr(1);
  if (text == "true" || text == "false") return text == "true";
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0' && std::isfinite(number)) return number;
  return std::monostate();
}

Entries entries_of(std::string_view input) {
  Entries entries;
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    const size_t middle = line.find('=');
    if (middle == std::string_view::npos) continue;
    entries.emplace(line.substr(0, middle), value_of(std::string(line.substr(middle + 1))));
  }
  return entries;
}

/// The call returns a value, or throws an error with the key and the received value.
template <typename Call>
void try_call(const std::string& key, const ModelConfig::Value* value, Call call) {
  try {
    call();
  } catch (const common::LoadError& error) {
    const std::string message = error.what();
    const std::string start = "config.json: " + key;
    if (key.find('\0') != std::string::npos) return;  // what() ends there
    require(message.starts_with(start), "a message that names the key");
    const auto* number = value ? std::get_if<double>(value) : nullptr;
    const size_t received = message.find(", received ", start.size());
    if (!number || received == std::string::npos) return;
    const double shown =
        std::strtod(message.c_str() + received + std::strlen(", received "), nullptr);
    require(shown == *number, "the number that was received");
  }
}

}  // namespace

void model_config(std::string_view input) {
  const Entries entries = entries_of(input);
  const ModelConfig config(entries);
  const auto call_all = [&config](const std::string& key, const ModelConfig::Value* value) {
    try_call(key, value, [&] { require(config.positive_integer(key) > 0, "a positive integer"); });
    try_call(key, value, [&] { (void)config.integer_or(key, 1); });
    try_call(key, value, [&] { (void)config.number_or(key, 1); });
    try_call(key, value, [&] { (void)config.boolean_or(key, true); });
    try_call(key, value, [&] { (void)config.string_or(key, ""); });
    try_call(key, value, [&] { config.require_one_of(key, {"gelu", "relu"}); });
    try_call(key, value, [&] { (void)config.strings(key); });
  };
  for (const auto& [key, value] : entries) {
    call_all(key, &value);
    const std::string list = key.substr(0, key.rfind('.'));
    try_call(list, nullptr, [&] { (void)config.strings(list); });
  }
  call_all("absent", nullptr);
}

}  // namespace fuzz
