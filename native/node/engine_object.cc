#include "engine_object.h"

#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include "completions.h"
#include "decoding.h"

namespace node {
namespace {

/// No deadline if timeout_ms is 0 or less.
scheduler::Clock::time_point deadline_after(double timeout_ms) {
  constexpr double kMaxMs = 1e12;
  if (!(timeout_ms > 0) || timeout_ms > kMaxMs) return scheduler::Clock::time_point::max();
  return scheduler::Clock::now() + std::chrono::duration_cast<scheduler::Clock::duration>(
                                       std::chrono::duration<double, std::milli>(timeout_ms));
}

/// NativeRefusal of src/native/binding.ts; undefined if the request is accepted.
Napi::Value refusal(Napi::Env env, const scheduler::Admission& admission) {
  const char* const code = error_code(admission.status);
  if (code == nullptr) return env.Undefined();
  auto object = Napi::Object::New(env);
  object["code"] = code;
  object["waitMs"] = milliseconds(admission.wait);
  return object;
}

Napi::Object trial_object(Napi::Env env, const backend::LoadTimeCheck& trial) {
  auto object = Napi::Object::New(env);
  object["outputs"] = array(
      env, trial.outputs, [&](const scheduler::Output& each) { return floats(env, each.values); });
  object["error"] = trial.error;
  object["repeatable"] = trial.repeatable;
  return object;
}

}  // namespace

void EnvironmentData::end(const std::shared_ptr<EngineHost>& host) {
  host->stop();
  hosts_.erase(host);
}

void EnvironmentData::complete_all() {
  for (const auto& host : hosts_) host->stop();
  hosts_.clear();
}

/// hosts_ may hold the last reference: the host lives until its threads have ended.
void EnvironmentData::close(const std::shared_ptr<EngineHost>& host,
                            EngineHost::CloseHandler on_closed) {
  host->close([this, weak = std::weak_ptr(host), on_closed = std::move(on_closed)](Napi::Env env) {
    hosts_.erase(weak.lock());
    on_closed(env);
  });
}

Napi::Function EngineObject::define(Napi::Env env) {
  return DefineClass(env, "NativeEngine",
                     {
                         InstanceAccessor<&EngineObject::description>("description"),
                         InstanceMethod<&EngineObject::submit>("submit"),
                         InstanceMethod<&EngineObject::admission>("admission"),
                         InstanceMethod<&EngineObject::cancel>("cancel"),
                         InstanceMethod<&EngineObject::stats>("stats"),
                         InstanceMethod<&EngineObject::stuck_ms>("stuckMs"),
                         InstanceMethod<&EngineObject::set_weight>("setWeight"),
                         InstanceMethod<&EngineObject::drop>("drop"),
                         InstanceMethod<&EngineObject::close>("close"),
                         InstanceMethod<&EngineObject::token>("token"),
                         InstanceMethod<&EngineObject::join>("join"),
                         InstanceMethod<&EngineObject::decode>("decode"),
                     });
}

Napi::Object EngineObject::create(Napi::Env env, const std::shared_ptr<EngineHost>& host) {
  auto* environment = env.GetInstanceData<EnvironmentData>();
  environment->host_of_new_engine = host;
  return environment->engine_constructor.New({});
}

EngineObject::EngineObject(const Napi::CallbackInfo& info)
    : ObjectWrap(info), environment_(info.Env().GetInstanceData<EnvironmentData>()) {
  host_ = std::exchange(environment_->host_of_new_engine, nullptr);
  if (!host_) {
    throw Napi::TypeError::New(info.Env(), "An engine is made by load(), not by its constructor");
  }
}

EngineObject::~EngineObject() {
  if (host_ && host_->is_open()) environment_->close(host_, [](Napi::Env) {});
}

Napi::Value EngineObject::submit(const Napi::CallbackInfo& info) {
  const auto first_ticket = static_cast<uint64_t>(info[0].As<Napi::Number>().Int64Value());
  const double timeout_ms = info[2].As<Napi::Number>().DoubleValue();
  const int64_t max_outputs = info[3].IsNumber() ? info[3].As<Napi::Number>().Int64Value() : 0;
  try {
    return refusal(info.Env(), host_->submit(first_ticket, inputs_argument(info[1], max_outputs),
                                             deadline_after(timeout_ms)));
  } catch (const scheduler::BackendError& error) {
    throw Napi::Error::New(info.Env(), error.what());
  } catch (const std::bad_alloc&) {
    throw Napi::Error::New(info.Env(), "out of memory");
  }
}

Napi::Value EngineObject::admission(const Napi::CallbackInfo& info) {
  const double timeout_ms = info[0].As<Napi::Number>().DoubleValue();
  return refusal(info.Env(), host_->admission(deadline_after(timeout_ms)));
}

void EngineObject::cancel(const Napi::CallbackInfo& info) {
  host_->cancel(static_cast<uint64_t>(info[0].As<Napi::Number>().Int64Value()));
}

Napi::Value EngineObject::stats(const Napi::CallbackInfo& info) {
  const scheduler::Statistics statistics = host_->statistics();
  auto object = Napi::Object::New(info.Env());
  object["queueRequests"] = static_cast<double>(statistics.queue_requests);
  object["queueRequestsLimit"] = static_cast<double>(statistics.queue_requests_limit);
  object["queueBytes"] = static_cast<double>(statistics.queue_bytes);
  object["queueBytesLimit"] = static_cast<double>(statistics.queue_bytes_limit);
  object["queueWaitMs"] = milliseconds(statistics.queue_wait);
  object["queueWaitLimitMs"] = milliseconds(statistics.queue_wait_limit);
  object["completed"] = static_cast<double>(statistics.completed);
  object["failed"] = static_cast<double>(statistics.failed);
  object["refused"] = static_cast<double>(statistics.refused);
  object["cancelled"] = static_cast<double>(statistics.cancelled);
  object["expired"] = static_cast<double>(statistics.expired);
  object["timedOut"] = static_cast<double>(statistics.timed_out);
  object["tooLong"] = static_cast<double>(statistics.too_long);
  object["batches"] = static_cast<double>(statistics.batches);
  object["reusedStates"] = static_cast<double>(statistics.reused_states);
  object["cacheHits"] = static_cast<double>(statistics.cache_hits);
  object["cacheMisses"] = static_cast<double>(statistics.cache_misses);
  object["cacheBytes"] = static_cast<double>(statistics.cache_bytes);
  return object;
}

/// Polled by a timer, which cannot handle an exception: it allocates on V8's heap only.
Napi::Value EngineObject::stuck_ms(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), milliseconds(host_->statistics().hung_for));
}

void EngineObject::set_weight(const Napi::CallbackInfo& info) {
  if (const auto& queue = host_->model().queue) {
    queue->set_weight(weight_argument(info[0]));
  }
}

void EngineObject::drop(const Napi::CallbackInfo& /*info*/) { host_->drop(); }

Napi::Value EngineObject::close(const Napi::CallbackInfo& info) {
  const auto deferred = Napi::Promise::Deferred::New(info.Env());
  if (host_->is_open()) {
    environment_->close(host_, [deferred](Napi::Env env) { deferred.Resolve(env.Undefined()); });
  } else {
    deferred.Resolve(info.Env().Undefined());
  }
  return deferred.Promise();
}

/// Vocabulary of the model; null for a signal model. Throws after close().
std::shared_ptr<const backend::Vocabulary> EngineObject::vocabulary(Napi::Env env) const {
  if (!host_->has_model()) throw Napi::Error::New(env, "the model is closed: load it again");
  return host_->model().vocabulary;
}

/// Empty for an unknown id or a model without a vocabulary.
Napi::Value EngineObject::token(const Napi::CallbackInfo& info) {
  const auto vocabulary = this->vocabulary(info.Env());
  const uint32_t id = info[0].As<Napi::Number>().Uint32Value();
  return Napi::String::New(info.Env(), vocabulary != nullptr ? vocabulary->token(id) : "");
}

Napi::Value EngineObject::join(const Napi::CallbackInfo& info) {
  const auto vocabulary = this->vocabulary(info.Env());
  if (vocabulary == nullptr) return Napi::String::New(info.Env(), "");
  const auto array = info[0].As<Napi::Array>();
  std::vector<std::string> tokens;
  tokens.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) {
    tokens.push_back(Napi::Value(array.Get(i)).As<Napi::String>().Utf8Value());
  }
  try {
    return Napi::String::New(info.Env(), vocabulary->join(tokens));
  } catch (const scheduler::BackendError& error) {
    throw Napi::Error::New(info.Env(), error.what());
  }
}

Napi::Value EngineObject::decode(const Napi::CallbackInfo& info) {
  return node::decode(info, vocabulary(info.Env()));
}

Napi::Value EngineObject::description(const Napi::CallbackInfo& info) {
  const auto& [_, description, report, vocabulary, file_bytes] = host_->model();
  const backend::KernelsInUse& multiplication = report.kernels_in_use;
  auto products = Napi::Object::New(info.Env());
  products["linear"] = multiplication.linear;
  products["attention"] = multiplication.attention;
  products["instructions"] = multiplication.instructions;
  auto object = Napi::Object::New(info.Env());
  object["backend"] = report.kind;
  object["maxLength"] = static_cast<double>(description.max_length);
  object["numOutputs"] = static_cast<double>(report.num_outputs);
  object["vocabularySize"] = static_cast<double>(report.vocabulary_size);
  object["batching"] = description.batching;
  object["readsLists"] = report.reads_lists;
  object["trial"] = trial_object(info.Env(), report.load_time_check);
  object["products"] = products;
  object["warnings"] = array(info.Env(), report.warnings);
  if (vocabulary) {
    auto words = Napi::Object::New(info.Env());
    const auto unknown = vocabulary->unknown_id();
    words["marksContinuedWords"] = vocabulary->marks_continued_words();
    words["unknownId"] = unknown ? Napi::Number::New(info.Env(), *unknown) : info.Env().Null();
    object["vocabulary"] = words;
  }
  return object;
}

}  // namespace node
