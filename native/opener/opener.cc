// What `require('libtorch_serve_opener.node')` gives: Opener of src/native/open-early.ts.
//
// Opening the addon runs LibTorch's static constructors, a quarter of a second on one thread. This
// library is small and opens at once; its thread opens the other one, and a later require() of that
// finds it in the process, or waits for it.
#include <dlfcn.h>
#include <node_api.h>

#include <string>
#include <system_error>
#include <thread>

namespace {

/// Only the JS thread of the process uses it. Never destroyed: wait() ends the thread.
std::thread& opening() {
  static auto* thread = new std::thread();
  return *thread;
}

/// open(path: string): once. Why a library does not open, the later require() says.
napi_value open(napi_env env, napi_callback_info info) {
  size_t argc = 1, length = 0;
  napi_value path = nullptr;
  napi_get_cb_info(env, info, &argc, &path, nullptr, nullptr);
  if (opening().joinable() ||
      napi_get_value_string_utf8(env, path, nullptr, 0, &length) != napi_ok) {
    napi_throw_error(env, nullptr, "open(): expected a path, and to be called once");
    return nullptr;
  }
  std::string name(length, '\0');
  napi_get_value_string_utf8(env, path, name.data(), length + 1, nullptr);
  try {
    opening() = std::thread([name] { dlopen(name.c_str(), RTLD_LAZY); });
  } catch (const std::system_error&) {
    // No thread to be had: the later require() opens it.
  }
  return nullptr;
}

/// wait(): until the library is open, or could not be opened. The process may not end before: it
/// would destroy static objects while others are being constructed.
napi_value wait(napi_env, napi_callback_info) {
  if (opening().joinable()) opening().join();
  return nullptr;
}

}  // namespace

NAPI_MODULE_INIT() {
  const napi_property_descriptor functions[] = {
      {"open", nullptr, open, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"wait", nullptr, wait, nullptr, nullptr, nullptr, napi_enumerable, nullptr}};
  napi_define_properties(env, exports, 2, functions);
  return exports;
}
