// What `require('libtorch_serve_preloader.node')` gives: Preloader of src/native/load.ts.
//
// Opening the addon runs LibTorch's static constructors, a quarter of a second on one thread. This
// library is small and opens at once; its thread opens the other one, and a later require() of that
// finds it in the process, or waits for it.
#include <dlfcn.h>
#include <napi.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// Only the JS thread of the process uses it. Never destroyed: wait() ends the thread.
std::thread& opening() {
  static auto* thread = new std::thread();
  return *thread;
}

/// open(...paths: string[]): once, in this order. Why a library does not open, the later require()
/// says.
void open(const Napi::CallbackInfo& info) {
  if (opening().joinable() || info.Length() == 0) {
    throw Napi::Error::New(info.Env(), "open(): expected paths, and to be called once");
  }
  std::vector<std::string> names;
  names.reserve(info.Length());
  for (size_t i = 0; i < info.Length(); ++i) names.push_back(info[i].ToString());
  try {
    opening() = std::thread([names = std::move(names)] {
      for (const std::string& name : names) dlopen(name.c_str(), RTLD_LAZY);
    });
  } catch (const std::system_error&) {
    // No thread to be had: the later require() opens it.
  }
}

/// load(path: string): a library that is no addon, here and now, for good. Whoever needs one of its
/// name will get this one. Throws why it does not open.
void load(const Napi::CallbackInfo& info) {
  const std::string name = info[0].ToString();
  if (!dlopen(name.c_str(), RTLD_LAZY)) throw Napi::Error::New(info.Env(), dlerror());
}

/// wait(): until the library is open, or could not be opened. The process may not end before: it
/// would destroy static objects while others are being constructed.
void wait(const Napi::CallbackInfo& /*info*/) {
  if (opening().joinable()) opening().join();
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports["open"] = Napi::Function::New<open>(env, "open");
  exports["load"] = Napi::Function::New<load>(env, "load");
  exports["wait"] = Napi::Function::New<wait>(env, "wait");
  return exports;
}

}  // namespace

NODE_API_MODULE(libtorch_serve_preloader, init)
