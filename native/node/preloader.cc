// Exports of libtorch_serve_preloader.node: Preloader of src/native/addon.ts.
//
// Opening the addon runs LibTorch's static constructors, which take 0.25 s on one thread. This
// small library opens the addon on a thread of its own; a later require() of the addon returns as
// soon as it is open.
#include <dlfcn.h>
#include <napi.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// The thread that opens libraries. Used by the JS thread only. Never destroyed: wait() joins the
/// thread.
std::thread& opening() {
  static auto* thread = new std::thread();
  return *thread;
}

/// open(...paths: string[]): opens the libraries in this order on a thread. Call it once. Errors
/// are ignored here: the later require() reports them.
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
    // No thread available: the later require() opens the library.
  }
}

/// load(path: string): opens a library that is not an addon, synchronously and permanently.
/// Libraries that depend on its name use this copy. Throws the error of the loader.
void load(const Napi::CallbackInfo& info) {
  const std::string name = info[0].ToString();
  if (!dlopen(name.c_str(), RTLD_LAZY)) throw Napi::Error::New(info.Env(), dlerror());
}

/// wait(): returns when the thread has opened all libraries. The process must not exit earlier: it
/// would destroy static objects while the thread constructs others.
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
