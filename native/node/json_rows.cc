#include "json_rows.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "async_worker.h"

namespace node {
namespace {

/// Maximum length of a number with a comma, for example `-1.17549435e-38,`.
constexpr size_t kMaxNumberLength = 16;

/// Number of values that are serialized on the event loop. They take about 0.2 ms; more would delay
/// other requests.
constexpr size_t kMaxSynchronousValues = 8192;

struct JsonRows {
  std::vector<char> text;
  std::vector<uint32_t> ends;
};

JsonRows write(const std::vector<float>& values, size_t columns) {
  JsonRows rows;
  rows.text.resize(values.size() * kMaxNumberLength + 2 * (values.size() / columns));
  char* position = rows.text.data();
  char* const last = position + rows.text.size();
  for (size_t i = 0; i < values.size(); ++i) {
    *position++ = i % columns == 0 ? '[' : ',';
    position = std::to_chars(position, last, values[i]).ptr;
    if ((i + 1) % columns != 0) continue;
    *position++ = ']';
    rows.ends.push_back(static_cast<uint32_t>(position - rows.text.data()));
  }
  rows.text.resize(static_cast<size_t>(position - rows.text.data()));
  return rows;
}

Napi::Value to_js(Napi::Env env, JsonRows rows) {
  auto ends = Napi::Uint32Array::New(env, rows.ends.size());
  std::ranges::copy(rows.ends, ends.Data());
  auto object = Napi::Object::New(env);
  object["text"] = Napi::Buffer<char>::Copy(env, rows.text.data(), rows.text.size());
  object["ends"] = ends;
  return object;
}

}  // namespace

Napi::Value rows_to_json(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto array = info[0].As<Napi::Float32Array>();
  const auto columns = static_cast<size_t>(info[1].As<Napi::Number>().Int64Value());
  if (columns == 0 || array.ElementLength() % columns != 0) {
    throw Napi::Error::New(env, "expected whole rows");
  }
  std::vector<float> values(array.Data(), array.Data() + array.ElementLength());
  if (values.size() <= kMaxSynchronousValues) {
    const auto deferred = Napi::Promise::Deferred::New(env);
    deferred.Resolve(to_js(env, write(values, columns)));
    return deferred.Promise();
  }
  return AsyncWorker<JsonRows>::run(
      env, [values = std::move(values), columns] { return write(values, columns); }, to_js);
}

}  // namespace node
