#include "encoder/nn/lstm.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/zeros.h>

#include <numeric>
#include <string>
#include <tuple>

#include "common/error.h"
#include "packed/parallel_for.h"
#include "runtime/operator_scope.h"

namespace backend::nn {

namespace {

constexpr const char* kDirections[] = {"", "_reverse"};

std::string key_end(int64_t layer, const char* direction) {
  return "_l" + std::to_string(layer) + direction;
}

}  // namespace

Lstm::Lstm(const Weights& weights, int64_t hidden_size, int64_t layers)
    : layers_(layers), direction_size_(hidden_size / 2) {
  if (hidden_size % 2 != 0) {
    throw common::LoadError("hidden_size: expected an even number with an LSTM, found " +
                            std::to_string(hidden_size));
  }
  const int64_t gates = 4 * direction_size_;
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (const char* const direction : kDirections) {
      const std::string end = key_end(layer, direction);
      parameters_.push_back(weights.get("weight_ih" + end, {gates, hidden_size}));
      parameters_.push_back(weights.get("weight_hh" + end, {gates, direction_size_}));
      parameters_.push_back(weights.get("bias_ih" + end, {gates}));
      parameters_.push_back(weights.get("bias_hh" + end, {gates}));
    }
  }
}

void Lstm::ignore(const Weights& weights, int64_t layers) {
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (const char* const direction : kDirections) {
      for (const char* const name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
        weights.ignore(name + key_end(layer, direction));
      }
    }
  }
}

at::Tensor Lstm::operator()(const at::Tensor& input, const std::vector<int64_t>& lengths) const {
  std::vector<int64_t> starts(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), int64_t{0});
  const at::Tensor output = at::empty_like(input);
  parallel_for(static_cast<int64_t>(lengths.size()), [&](int64_t i) {
    if (lengths[i] == 0) return;
    const OperatorScope scope;
    output.narrow(0, starts[i], lengths[i]).copy_(run(input.narrow(0, starts[i], lengths[i])));
  });
  return output;
}

/// [rows, hidden] → [rows, hidden]
at::Tensor Lstm::run(const at::Tensor& sequence) const {
  const at::Tensor start = at::zeros({2 * layers_, 1, direction_size_});
  const auto [output, hidden, cell] =
      at::lstm(sequence.unsqueeze(1), {start, start}, parameters_, /*has_biases=*/true, layers_,
               /*dropout=*/0, /*train=*/false, /*bidirectional=*/true, /*batch_first=*/false);
  return output.squeeze(1);
}

}  // namespace backend::nn
