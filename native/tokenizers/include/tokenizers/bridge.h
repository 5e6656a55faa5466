// The Rust crate native/tokenizers: tokenizers, safetensors, programs of torch.export, and what a guard
// looks for. What it has is described in src/bridge.rs, src/exported/bridge.rs and
// src/guard/bridge.rs; it throws rust::Error.
#ifndef HF_BRIDGE_H_
#define HF_BRIDGE_H_

#include <cstdint>
#include <string_view>

#include "tokenizers_ffi/src/bridge.rs.h"
#include "tokenizers_ffi/src/exported/bridge.rs.h"
#include "tokenizers_ffi/src/guard/bridge.rs.h"
#include "rust/cxx.h"

namespace tokenizers {

// As Rust takes what may be no UTF-8: not copied.
inline rust::Slice<const uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace tokenizers

#endif  // HF_BRIDGE_H_
