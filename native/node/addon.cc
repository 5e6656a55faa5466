// Exports of libtorch_serve.node: NativeBinding of src/native/binding.ts.
#include <napi.h>

#include "arguments.h"
#include "backend/backends.h"
#include "backend/inspect.h"
#include "common/error.h"
#include "completions.h"
#include "engine_object.h"
#include "expression_search.h"
#include "guard_scan.h"
#include "json_rows.h"

namespace node {
namespace {

/// load(source, options, onCompletions): Promise<NativeEngine>
Napi::Value load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string problem = backend::instructions_problem();
  if (!problem.empty()) throw Napi::Error::New(env, problem);
  backend::limit_instructions();
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

/// dtypeProblem(dtype, products): string
Napi::Value dtype_problem(const Napi::CallbackInfo& info) {
  return Napi::String::New(
      info.Env(), backend::dtype_problem(dtype_argument(info[0]), products_argument(info[1])));
}

/// instructionsProblem(): string
Napi::Value instructions_problem(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), backend::instructions_problem());
}

/// availableInstructions(): string[]
Napi::Value available_instructions(const Napi::CallbackInfo& info) {
  return array(info.Env(), backend::available_instructions());
}

Napi::Object report_object(Napi::Env env, const backend::ProgramReport& report) {
  auto object = Napi::Object::New(env);
  object["kind"] = report.kind;
  object["madeBy"] = report.made_by;
  object["inputs"] = array(env, report.inputs, [&](const backend::ValueReport& each) {
    auto input = Napi::Object::New(env);
    input["name"] = each.name;
    input["type"] = each.type;
    input["sizes"] = each.sizes;
    return input;
  });
  object["outputs"] = array(env, report.outputs);
  object["weightCount"] = static_cast<double>(report.weight_count);
  object["weightBytes"] = static_cast<double>(report.weight_bytes);
  object["weightTypes"] = array(env, report.weight_types);
  object["operators"] = array(env, report.operators, [&](const backend::OperatorReport& each) {
    auto one = Napi::Object::New(env);
    one["name"] = each.name;
    one["count"] = static_cast<double>(each.count);
    one["problem"] = each.problem;
    return one;
  });
  return object;
}

/// inspectProgram(path, allowedOperators): ProgramReport
Napi::Value inspect_program(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto names = info[1].As<Napi::Array>();
  std::set<std::string> allowed;
  for (uint32_t i = 0; i < names.Length(); ++i) {
    allowed.insert(names.Get(i).As<Napi::String>().Utf8Value());
  }
  try {
    return report_object(env,
                         backend::inspect_program(info[0].As<Napi::String>().Utf8Value(), allowed));
  } catch (const common::LoadError& error) {
    throw Napi::Error::New(env, error.what());
  }
}

/// stopAll(): ends all threads of this environment's engines immediately.
void stop_all(const Napi::CallbackInfo& info) {
  info.Env().GetInstanceData<EnvironmentData>()->complete_all();
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  auto* environment = new EnvironmentData();
  environment->engine_constructor = Napi::Persistent(EngineObject::define(env));
  env.SetInstanceData(environment);  // deleted with the environment
  auto versions = Napi::Object::New(env);
  versions["libtorch"] = backend::libtorch_version();
  versions["tokenizers"] = backend::tokenizers_version();
  exports["versions"] = versions;
  exports["load"] = Napi::Function::New<load>(env, "load");
  exports["dtypeProblem"] = Napi::Function::New<dtype_problem>(env, "dtypeProblem");
  exports["instructionsProblem"] =
      Napi::Function::New<instructions_problem>(env, "instructionsProblem");
  exports["availableInstructions"] =
      Napi::Function::New<available_instructions>(env, "availableInstructions");
  exports["inspectProgram"] = Napi::Function::New<inspect_program>(env, "inspectProgram");
  exports["rowsToJson"] = Napi::Function::New<rows_to_json>(env, "rowsToJson");
  exports["compilePatterns"] = Napi::Function::New<compile_patterns>(env, "compilePatterns");
  exports["closePatterns"] = Napi::Function::New<close_patterns>(env, "closePatterns");
  exports["compileExpressions"] =
      Napi::Function::New<compile_expressions>(env, "compileExpressions");
  exports["findExpressions"] = Napi::Function::New<find_expressions>(env, "findExpressions");
  exports["scan"] = Napi::Function::New<scan>(env, "scan");
  exports["stopAll"] = Napi::Function::New<stop_all>(env, "stopAll");
  return exports;
}

}  // namespace
}  // namespace node

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) {
  return node::init(env, exports);
}

NODE_API_MODULE(libtorch_serve, init_addon)
