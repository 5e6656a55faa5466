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
#include <utility>
#include <vector>

namespace {

/// Only the JS thread of the process uses it. Never destroyed: wait() ends the thread.
std::thread& opening() {
  static auto* thread = new std::thread();
  return *thread;
}

/// The arguments, which have to be strings.
std::vector<std::string> strings(napi_env env, napi_callback_info info) {
  size_t argc = 0;
  napi_get_cb_info(env, info, &argc, nullptr, nullptr, nullptr);
  std::vector<napi_value> values(argc);
  napi_get_cb_info(env, info, &argc, values.data(), nullptr, nullptr);
  std::vector<std::string> found;
  for (napi_value value : values) {
    size_t length = 0;
    if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) return {};
    std::string& text = found.emplace_back(length, '\0');
    napi_get_value_string_utf8(env, value, text.data(), length + 1, nullptr);
  }
  return found;
}

/// open(...paths: string[]): once, in this order. Why a library does not open, the later require()
/// says.
napi_value open(napi_env env, napi_callback_info info) {
  std::vector<std::string> names = strings(env, info);
  if (opening().joinable() || names.empty()) {
    napi_throw_error(env, nullptr, "open(): expected paths, and to be called once");
    return nullptr;
  }
  try {
    opening() = std::thread([names = std::move(names)] {
      for (const std::string& name : names) dlopen(name.c_str(), RTLD_LAZY);
    });
  } catch (const std::system_error&) {
    // No thread to be had: the later require() opens it.
  }
  return nullptr;
}

/// load(path: string): a library that is no addon, here and now, for good. Whoever needs one of its
/// name will get this one. Throws why it does not open.
napi_value load(napi_env env, napi_callback_info info) {
  std::vector<std::string> names = strings(env, info);
  if (names.size() != 1) {
    napi_throw_error(env, nullptr, "load(): expected a path");
  } else if (!dlopen(names[0].c_str(), RTLD_LAZY)) {
    napi_throw_error(env, nullptr, dlerror());
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
      {"load", nullptr, load, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"wait", nullptr, wait, nullptr, nullptr, nullptr, napi_enumerable, nullptr}};
  napi_define_properties(env, exports, 3, functions);
  return exports;
}
