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

// The texts do not fit, and may not be cut as they would have to be. For whoever sent them.
class TooLong : public Error {
 public:
  using Error::Error;
};

namespace internal {

// Owns and frees `error` when the call failed.
inline void Check(hf_status status, char* error) {
  if (status == HF_OK) return;
  const std::unique_ptr<char, void (*)(char*)> owner(error, hf_string_free);
  const char* const message = error != nullptr ? error : "unknown error";
  if (status == HF_TOO_LONG) throw TooLong(message);
  throw Error(message);
}

}  // namespace internal
}  // namespace hf

#endif  // HF_ERROR_H_
