#include "json_rows.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace node {
namespace {

/// As `-1.17549435e-38`, and a comma.
constexpr size_t kLongestNumber = 16;

/// About 0.2 ms of work: more would be felt by other requests.
constexpr size_t kMostAtOnce = 8192;

struct JsonRows {
  std::vector<char> text;
  std::vector<uint32_t> ends;
};

JsonRows write(const std::vector<float>& values, size_t columns) {
  JsonRows rows;
  rows.text.resize(values.size() * kLongestNumber + 2 * (values.size() / columns));
  char* at = rows.text.data();
  char* const last = at + rows.text.size();
  for (size_t i = 0; i < values.size(); ++i) {
    *at++ = i % columns == 0 ? '[' : ',';
    at = std::to_chars(at, last, values[i]).ptr;
    if ((i + 1) % columns != 0) continue;
    *at++ = ']';
    rows.ends.push_back(static_cast<uint32_t>(at - rows.text.data()));
  }
  rows.text.resize(static_cast<size_t>(at - rows.text.data()));
  return rows;
}

Napi::Object to_js(Napi::Env env, JsonRows rows) {
  auto ends = Napi::Uint32Array::New(env, rows.ends.size());
  std::ranges::copy(rows.ends, ends.Data());
  auto object = Napi::Object::New(env);
  object["text"] = Napi::Buffer<char>::Copy(env, rows.text.data(), rows.text.size());
  object["ends"] = ends;
  return object;
}

class Worker final : public Napi::AsyncWorker {
 public:
  Worker(Napi::Promise::Deferred deferred, std::vector<float> values, size_t columns)
      : Napi::AsyncWorker(deferred.Env()),
        deferred_(deferred),
        values_(std::move(values)),
        columns_(columns) {}

  void Execute() override { rows_ = write(values_, columns_); }
  void OnOK() override { deferred_.Resolve(to_js(Env(), std::move(rows_))); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Napi::Promise::Deferred deferred_;
  std::vector<float> values_;
  size_t columns_;
  JsonRows rows_;
};

}  // namespace

Napi::Value rows_to_json(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto array = info[0].As<Napi::Float32Array>();
  const auto columns = static_cast<size_t>(info[1].As<Napi::Number>().Int64Value());
  if (columns == 0 || array.ElementLength() % columns != 0) {
    throw Napi::Error::New(env, "expected whole rows");
  }
  std::vector<float> values(array.Data(), array.Data() + array.ElementLength());
  const auto deferred = Napi::Promise::Deferred::New(env);
  if (values.size() <= kMostAtOnce) {
    deferred.Resolve(to_js(env, write(values, columns)));
  } else {
    (new Worker(deferred, std::move(values), columns))->Queue();  // deletes itself
  }
  return deferred.Promise();
}

}  // namespace node
