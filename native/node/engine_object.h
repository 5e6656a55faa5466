// The JavaScript object of one engine, and what the addon keeps for an environment.
#pragma once

#include <napi.h>

#include <memory>
#include <set>

#include "engine_host.h"

namespace node {

/// What the addon keeps for one environment (the main thread, or a worker_threads Worker).
class EnvironmentData {
 public:
  Napi::FunctionReference engine_constructor;
  /// Of the NativeEngine that is being made; null: none is. Not passed through JavaScript, which
  /// could pass another value in its place.
  std::shared_ptr<EngineHost> host_of_new_engine;

  void add(const std::shared_ptr<EngineHost>& host) { hosts_.insert(host); }
  /// stop() and forget. JS thread.
  void end(const std::shared_ptr<EngineHost>& host);
  void end_all();
  /// close() and, once it is closed, forget. JS thread.
  void close(const std::shared_ptr<EngineHost>& host, EngineHost::CloseHandler on_closed);

 private:
  std::set<std::shared_ptr<EngineHost>> hosts_;
};

/// NativeEngine of src/native/binding.ts.
class EngineObject : public Napi::ObjectWrap<EngineObject> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Object create(Napi::Env env, const std::shared_ptr<EngineHost>& host);

  explicit EngineObject(const Napi::CallbackInfo& info);  ///< not for JavaScript: use load()
  /// Collected as garbage: an engine that nobody has closed is closed now, as close() does it. What
  /// was accepted is answered, and nothing is waited for here.
  ~EngineObject() override;

 private:
  Napi::Value submit(const Napi::CallbackInfo& info);
  Napi::Value admission(const Napi::CallbackInfo& info);
  void cancel(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value stuck_ms(const Napi::CallbackInfo& info);
  void set_share(const Napi::CallbackInfo& info);
  void drop(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  Napi::Value share(const Napi::CallbackInfo& info);
  Napi::Value token(const Napi::CallbackInfo& info);
  Napi::Value join(const Napi::CallbackInfo& info);
  Napi::Value description(const Napi::CallbackInfo& info);
  const backend::Vocabulary* vocabulary(Napi::Env env) const;

  std::shared_ptr<EngineHost> host_;
  EnvironmentData* environment_ = nullptr;
};

}  // namespace node
