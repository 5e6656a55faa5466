// The crate native/tokenizers: tokenizers and safetensors (src/bridge.rs), and programs of
// torch.export (src/exported/bridge.rs). Functions throw rust::Error.
#ifndef TOKENIZERS_BRIDGE_H_
#define TOKENIZERS_BRIDGE_H_

#include <cstdint>
#include <string_view>

#include "rust/cxx.h"
#include "tokenizers/src/bridge.rs.h"
#include "tokenizers/src/exported/bridge.rs.h"

namespace tokenizers {

/// View of the bytes of `text`, which need not be valid UTF-8. The result must not outlive `text`.
inline rust::Slice<const uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace tokenizers

#endif  // TOKENIZERS_BRIDGE_H_
