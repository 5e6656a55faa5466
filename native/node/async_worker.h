// Work on a thread of libuv's pool that settles a JavaScript promise.
#pragma once

#include <napi.h>

#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace node {

/// Runs `work` on a thread of libuv's pool, converts its result on the JS thread and resolves the
/// promise with it. An exception of `work` rejects the promise with its message.
template <class Result>
class AsyncWorker final : public Napi::AsyncWorker {
 public:
  using Work = std::function<Result()>;
  using ToJs = Napi::Value (*)(Napi::Env, Result);

  static Napi::Promise run(Napi::Env env, Work work, ToJs to_js) {
    auto* const worker = new AsyncWorker(env, std::move(work), to_js);
    const auto promise = worker->deferred_.Promise();
    worker->Queue();  // deletes the worker after completion
    return promise;
  }

  void Execute() override {
    try {
      result_.emplace(work_());
    } catch (const std::exception& error) {
      SetError(error.what());
    }
  }
  void OnOK() override {
    if (result_) deferred_.Resolve(to_js_(Env(), std::move(*result_)));
  }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  AsyncWorker(Napi::Env env, Work work, ToJs to_js)
      : Napi::AsyncWorker(env), deferred_(env), work_(std::move(work)), to_js_(to_js) {}

  Napi::Promise::Deferred deferred_;
  Work work_;
  ToJs to_js_;
  std::optional<Result> result_;
};

}  // namespace node
