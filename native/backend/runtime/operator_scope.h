#pragma once

#include <c10/core/InferenceMode.h>

#include "runtime/runtime.h"

namespace backend {

/// Settings of a pool thread that calls operators of LibTorch: no gradients, and no threads of
/// their own. Both settings belong to a thread.
class OperatorScope {
 public:
  OperatorScope() { set_intra_op_threads(1); }

 private:
  c10::InferenceMode inference_mode_;
};

}  // namespace backend
