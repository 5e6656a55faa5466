// What `require('libtorch_serve.node')` gives: NativeBinding of src/native/binding.ts.
#include <napi.h>

#include "arguments.h"
#include "backend/backends.h"
#include "engine_object.h"

namespace addon {
namespace {

/// load(source, options, onCompletions): Promise<NativeEngine>
Napi::Value load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  LoadArguments arguments = load_arguments(info[0], info[1]);
  auto* environment = env.GetInstanceData<EnvironmentData>();
  const auto host = EngineHost::create(env, function_argument(info[2], "onCompletions"));
  environment->add(host);
  const auto deferred = Napi::Promise::Deferred::New(env);
  host->load(std::move(arguments), [environment, weak = std::weak_ptr(host), deferred](
                                       Napi::Env env, const std::string& error) {
    const auto host = weak.lock();
    if (error.empty()) {
      deferred.Resolve(EngineObject::create(env, host));
    } else {
      environment->end(host);
      deferred.Reject(Napi::Error::New(env, error).Value());
    }
  });
  return deferred.Promise();
}

/// dtypeProblem(dtype): string
Napi::Value dtype_problem(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), backend::dtype_problem(dtype_argument(info[0])));
}

/// stopAll(): end every thread of this environment's engines, at once.
void stop_all(const Napi::CallbackInfo& info) {
  info.Env().GetInstanceData<EnvironmentData>()->end_all();
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  backend::limit_instructions();
  auto* environment = new EnvironmentData();
  environment->engine_constructor = Napi::Persistent(EngineObject::define(env));
  env.SetInstanceData(environment);  // deleted with the environment
  auto versions = Napi::Object::New(env);
  versions["libtorch"] = backend::libtorch_version();
  versions["tokenizers"] = backend::tokenizers_version();
  exports["versions"] = versions;
  exports["load"] = Napi::Function::New<load>(env, "load");
  exports["dtypeProblem"] = Napi::Function::New<dtype_problem>(env, "dtypeProblem");
  exports["stopAll"] = Napi::Function::New<stop_all>(env, "stopAll");
  return exports;
}

}  // namespace
}  // namespace addon

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) {
  return addon::init(env, exports);
}

NODE_API_MODULE(libtorch_serve, init_addon)
