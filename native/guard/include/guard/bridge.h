// The crate native/guard: pattern search and normalization variants, as src/bridge.rs declares
// them. Functions throw rust::Error.
#ifndef GUARD_BRIDGE_H_
#define GUARD_BRIDGE_H_

#include "guard/src/bridge.rs.h"
#include "rust/cxx.h"

#endif  // GUARD_BRIDGE_H_
