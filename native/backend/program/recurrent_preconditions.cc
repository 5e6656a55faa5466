#include "program/recurrent_preconditions.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/backend.h"

namespace backend {
namespace {

struct Lstm {
  at::Tensor input;
  std::vector<at::Tensor> states;
  std::vector<at::Tensor> parameters;
  bool has_biases = false;
  int64_t layers = 0;
  int64_t directions = 1;

  int64_t hidden() const { return states[1].size(2); }
  /// Smaller than hidden() where the output is projected.
  int64_t given() const { return states[0].size(2); }
};

Lstm lstm_of(std::span<const c10::IValue> arguments) {
  const size_t states = arguments[1].isTensor() ? 2 : 1;
  return {.input = arguments[0].toTensor(),
          .states = arguments[states].toTensorVector(),
          .parameters = arguments[states + 1].toTensorVector(),
          .has_biases = arguments[states + 2].toBool(),
          .layers = arguments[states + 3].toInt(),
          .directions = arguments[states + 6].toBool() ? 2 : 1};
}

void require(bool holds, const char* problem) {
  if (!holds) throw engine::BackendError(problem);
}

void require_states(const Lstm& lstm) {
  require(lstm.states.size() == 2, "expected two states");
  for (const at::Tensor& state : lstm.states) {
    require(state.dim() == 3, "expected states of three dimensions");
    require(lstm.layers > 0 && state.size(0) % lstm.directions == 0 &&
                state.size(0) / lstm.directions == lstm.layers,
            "the states are not as many as there are layers");
    require(state.size(1) == lstm.states[0].size(1), "the states have batches of two sizes");
  }
}

/// Shapes of what one layer has in one direction.
std::vector<std::vector<int64_t>> shapes_of(const Lstm& lstm, int64_t layer) {
  const int64_t gates = 4 * lstm.hidden();
  const int64_t inputs = layer == 0 ? lstm.input.size(-1) : lstm.directions * lstm.given();
  std::vector<std::vector<int64_t>> shapes{{gates, inputs}, {gates, lstm.given()}};
  if (lstm.has_biases) shapes.insert(shapes.end(), 2, {gates});
  if (lstm.given() != lstm.hidden()) shapes.push_back({lstm.given(), lstm.hidden()});
  return shapes;
}

}  // namespace

void fitting_lstm(std::span<const c10::IValue> arguments) {
  const Lstm lstm = lstm_of(arguments);
  require(lstm.input.dim() >= 2, "the input has no features");
  require_states(lstm);
  size_t next = 0;
  for (int64_t layer = 0; layer < lstm.layers; ++layer) {
    const auto shapes = shapes_of(lstm, layer);
    for (size_t i = 0; i < shapes.size() * static_cast<size_t>(lstm.directions); ++i, ++next) {
      require(next < lstm.parameters.size(), "the weights are not as many as the layers need");
      const at::Tensor& weight = lstm.parameters[next];
      require(weight.sizes() == at::IntArrayRef(shapes[i % shapes.size()]),
              "the weights do not fit the states or the input");
      require(weight.scalar_type() == lstm.input.scalar_type(),
              "the weights are not of the input's type");
    }
  }
  require(next == lstm.parameters.size(), "the weights are not as many as the layers need");
}

}  // namespace backend
