// What the LSTM of LibTorch believes of its weights without a look.
#pragma once

#include <ATen/core/ivalue.h>

#include <span>

namespace backend {

/// Of aten::lstm: (input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
/// batch_first), or of packed sequences: (data, batch_sizes, hx, …, bidirectional). oneDNN reads
/// the weights as long as the states say that they are (LibTorch 2.15). Throws
/// engine::BackendError.
void fitting_lstm(std::span<const c10::IValue> arguments);

}  // namespace backend
