// The exception of the hf wrappers, and how a C status becomes one.
#ifndef HF_ERROR_H_
#define HF_ERROR_H_

#include <memory>
#include <stdexcept>
#include <string>

#include "hf/hf.h"

namespace hf {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace internal {

// Owns and frees `error` when the call failed.
inline void Check(hf_status status, char* error) {
  if (status == HF_OK) return;
  const std::unique_ptr<char, void (*)(char*)> owner(error, hf_string_free);
  throw Error(error != nullptr ? error : "unknown error");
}

}  // namespace internal
}  // namespace hf

#endif  // HF_ERROR_H_
