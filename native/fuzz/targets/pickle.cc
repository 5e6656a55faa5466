#include <set>
#include <stdexcept>
#include <variant>
#include <vector>

#include "backend/model_config.h"
#include "files/pickle_reader.h"
#include "targets.h"

namespace fuzz {
namespace {

using backend::PickleItems;
using backend::PickleValue;

/// Everything that can be reached, each list once: a pickle may hold itself.
size_t visited(const PickleValue& root) {
  std::vector<const PickleValue*> waiting{&root};
  std::set<const PickleItems*> seen;
  size_t bytes = 0;
  const auto enter = [&](const PickleItems* items) {
    if (!seen.insert(items).second) return;
    for (const auto& item : *items) waiting.push_back(&item);
  };
  while (!waiting.empty()) {
    const PickleValue& value = *waiting.back();
    waiting.pop_back();
    if (const auto* tuple = std::get_if<backend::PickleTuple>(&value)) enter(tuple->items);
    if (const auto* list = std::get_if<backend::PickleList>(&value)) enter(list->items);
    if (const auto* dict = std::get_if<backend::PickleDict>(&value)) enter(dict->items);
    if (const auto* text = std::get_if<const std::string*>(&value)) bytes += (*text)->size();
    if (const auto* tensor = std::get_if<const backend::TensorReference*>(&value)) {
      bytes += (*tensor)->storage.key->size() + (*tensor)->sizes.size();
    }
  }
  return bytes;
}

}  // namespace

void pickle(std::string_view input) {
  std::string_view rest = input;
  while (!rest.empty()) {
    const size_t before = rest.size();
    try {
      const backend::Pickle pickle(rest);
      // No text is longer than what it was read from, and each is kept once for each reading.
      require(visited(pickle.value()) <= input.size() * (input.size() + 1), "texts of the pickle");
      for (const auto& storage : pickle.storages()) require(storage.key != nullptr, "a key");
    } catch (const backend::LoadError&) {
      return;
    } catch (const std::bad_variant_access&) {
      return;
    } catch (const std::out_of_range&) {
      return;
    }
    require(rest.size() < before, "a pickle takes bytes");
  }
}

}  // namespace fuzz
