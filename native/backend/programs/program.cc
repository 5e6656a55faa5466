#include "programs/program.h"

#include <ATen/core/Tensor.h>
#include <c10/util/StringUtil.h>

#include <utility>

namespace backend {
namespace {

/// A tensor of an output, and the path of keys or indices to it: `logits`, `1.0`.
using Found = std::pair<std::string, at::Tensor>;

void collect(const c10::IValue& value, const std::string& place, std::vector<Found>& found) {
  const auto inside = [&place](const std::string& key) {
    return place.empty() ? key : place + "." + key;
  };
  if (value.isTensor()) {
    found.emplace_back(place, value.toTensor());
  } else if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    for (size_t i = 0; i < elements.size(); ++i) {
      collect(elements[i], inside(std::to_string(i)), found);
    }
  } else if (value.isList()) {
    const auto elements = value.toListRef();
    for (size_t i = 0; i < elements.size(); ++i) {
      collect(elements[i], inside(std::to_string(i)), found);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      const std::string key =
          entry.key().isString() ? entry.key().toStringRef() : entry.key().tagKind();
      collect(entry.value(), inside(key), found);
    }
  }
}

std::string kind_of(const c10::IValue& output) {
  if (output.isTuple()) return "a tuple";
  if (output.isList()) return "a list";
  if (output.isGenericDict()) return "a dict";
  if (output.isNone()) return "None";
  return "a value of type " + output.tagKind();
}

std::string described(const c10::IValue& output, const std::vector<Found>& found) {
  constexpr size_t kShown = 8;
  if (found.empty()) return kind_of(output) + " without a tensor";
  std::string text = kind_of(output) + " with " + std::to_string(found.size()) + " tensors (";
  for (size_t i = 0; i < found.size() && i < kShown; ++i) {
    text += (i > 0 ? ", " : "") + found[i].first + ": " + c10::str(found[i].second.sizes());
  }
  return text + (found.size() > kShown ? ", …)" : ")");
}

}  // namespace

at::Tensor single_tensor(const c10::IValue& output) {
  std::vector<Found> found;
  collect(output, "", found);
  if (found.size() == 1) return found.front().second;
  throw OutputError("the model returns " + described(output, found) +
                    ", expected one tensor, by itself or alone in a tuple, a list or a dict");
}

}  // namespace backend
