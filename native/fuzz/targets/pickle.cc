#include <set>
#include <stdexcept>
#include <variant>
#include <vector>

#include "common/error.h"
#include "common/files/pickle_reader.h"
#include "targets.h"

namespace fuzz {
namespace {

using common::PickleItems;
using common::PickleValue;

/// Number of reachable values, each list once: a pickle can contain itself.
size_t visited(const common::PickleValue& root) {
  std::vector<const common::PickleValue*> waiting{&root};
  std::set<const common::PickleItems*> seen;
  size_t bytes = 0;
  const auto enter = [&](const common::PickleItems* items) {
    if (!seen.insert(items).second) return;
    for (const auto& item : *items) waiting.push_back(&item);
  };
  while (!waiting.empty()) {
    const common::PickleValue& value = *waiting.back();
    waiting.pop_back();
    if (const auto* tuple = std::get_if<common::PickleTuple>(&value)) enter(tuple->items);
    if (const auto* list = std::get_if<common::PickleList>(&value)) enter(list->items);
    if (const auto* dict = std::get_if<common::PickleDict>(&value)) enter(dict->items);
    if (const auto* text = std::get_if<const std::string*>(&value)) bytes += (*text)->size();
    if (const auto* tensor = std::get_if<const common::TensorReference*>(&value)) {
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
      const common::Pickle pickle(rest);
      // No string is longer than the input, and each is stored once for each occurrence.
      require(visited(pickle.value()) <= input.size() * (input.size() + 1), "texts of the pickle");
      for (const auto& storage : pickle.storages()) require(storage.key != nullptr, "a key");
    } catch (const common::LoadError&) {
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
