#include "decoding.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "async_worker.h"

namespace node {
namespace {

/// Text of a list, or the index of its first unknown ID.
using Decoded = std::variant<std::string, size_t>;

std::vector<uint32_t> integers(const Napi::Env& env, const Napi::Value& value) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) {
    throw Napi::TypeError::New(env, "expected a Uint32Array");
  }
  const auto array = value.As<Napi::Uint32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

std::vector<std::vector<uint32_t>> split(const Napi::Env& env, const std::vector<uint32_t>& ids,
                                         const std::vector<uint32_t>& ends) {
  std::vector<std::vector<uint32_t>> lists;
  lists.reserve(ends.size());
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    if (end < begin || end > ids.size()) throw Napi::Error::New(env, "expected ascending ends");
    lists.emplace_back(ids.begin() + begin, ids.begin() + end);
    begin = end;
  }
  return lists;
}

Napi::Value to_js(Napi::Env env, std::vector<Decoded> decoded) {
  auto array = Napi::Array::New(env, decoded.size());
  for (uint32_t i = 0; i < decoded.size(); ++i) {
    if (const auto* const text = std::get_if<std::string>(&decoded[i])) {
      array[i] = Napi::String::New(env, *text);
    } else {
      array[i] = static_cast<double>(std::get<size_t>(decoded[i]));
    }
  }
  return array;
}

}  // namespace

Napi::Value decode(const Napi::CallbackInfo& info,
                   std::shared_ptr<const backend::Vocabulary> vocabulary) {
  const Napi::Env env = info.Env();
  auto lists = split(env, integers(env, info[0]), integers(env, info[1]));
  const bool skips = info[2].ToBoolean().Value();
  if (vocabulary == nullptr) throw Napi::Error::New(env, "the model has no vocabulary");
  return AsyncWorker<std::vector<Decoded>>::run(
      env,
      [lists = std::move(lists), skips, vocabulary = std::move(vocabulary)] {
        std::vector<Decoded> decoded;
        decoded.reserve(lists.size());
        for (const auto& ids : lists) {
          if (const auto unknown = vocabulary->find_unknown_id(ids)) {
            decoded.emplace_back(*unknown);
          } else {
            decoded.emplace_back(vocabulary->decode(ids, skips));
          }
        }
        return decoded;
      },
      to_js);
}

}  // namespace node
