// The JavaScript object of a model, and the addon's data of an environment.
#pragma once

#include <napi.h>

#include <memory>
#include <set>

#include "engine_host.h"

namespace node {

/// Data of the addon in one environment (the main thread, or a worker_threads Worker).
class EnvironmentData {
 public:
  Napi::FunctionReference engine_constructor;
  /// Host of the NativeEngine under construction; null otherwise. It does not pass through
  /// JavaScript, which could replace it by another value.
  std::shared_ptr<EngineHost> host_of_new_engine;

  void add(const std::shared_ptr<EngineHost>& host) { hosts_.insert(host); }
  /// Stops and removes the host. JS thread.
  void end(const std::shared_ptr<EngineHost>& host);
  void complete_all();
  /// Closes the host and then removes it. JS thread.
  void close(const std::shared_ptr<EngineHost>& host, EngineHost::CloseHandler on_closed);

 private:
  std::set<std::shared_ptr<EngineHost>> hosts_;
};

/// NativeEngine of src/native/binding.ts.
class EngineObject : public Napi::ObjectWrap<EngineObject> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Object create(Napi::Env env, const std::shared_ptr<EngineHost>& host);

  explicit EngineObject(const Napi::CallbackInfo& info);  ///< throws if JavaScript calls it
  /// On garbage collection: starts close() of an open engine and does not wait for it. Accepted
  /// requests get their responses.
  ~EngineObject() override;

 private:
  Napi::Value submit(const Napi::CallbackInfo& info);
  Napi::Value admission(const Napi::CallbackInfo& info);
  void cancel(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value stuck_ms(const Napi::CallbackInfo& info);
  void set_weight(const Napi::CallbackInfo& info);
  void drop(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  Napi::Value token(const Napi::CallbackInfo& info);
  Napi::Value join(const Napi::CallbackInfo& info);
  Napi::Value decode(const Napi::CallbackInfo& info);
  Napi::Value description(const Napi::CallbackInfo& info);
  std::shared_ptr<const backend::Vocabulary> vocabulary(Napi::Env env) const;

  std::shared_ptr<EngineHost> host_;
  EnvironmentData* environment_ = nullptr;
};

}  // namespace node
