#include "programs/preconditions.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/eq.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include "scheduler/backend.h"

namespace backend {
namespace {

using Arguments = std::span<const c10::IValue>;

void require(bool holds, const char* problem) {
  if (!holds) throw scheduler::BackendError(problem);
}

/// The tensor argument; null if it is None or not a tensor, which the operator rejects.
const at::Tensor* tensor_at(Arguments arguments, size_t index) {
  if (index >= arguments.size() || !arguments[index].isTensor()) return nullptr;
  const at::Tensor& tensor = arguments[index].toTensor();
  return tensor.defined() ? &tensor : nullptr;
}

/// (v, g, dim)
void weight_norm(Arguments arguments) {
  const at::Tensor* const v = tensor_at(arguments, 0);
  const at::Tensor* const g = tensor_at(arguments, 1);
  if (v == nullptr || g == nullptr || !arguments[2].isInt()) return;
  const int64_t dimension = arguments[2].toInt();
  if (v->dim() == 0 || (dimension != 0 && dimension != v->dim() - 1)) return;  // other algorithm
  require(g->numel() == v->size(dimension), "the lengths are not as many as there are rows");
}

/// (input, weight, bias, running_mean, running_var, …), or without running_mean and running_var
void batch_norm(Arguments arguments) {
  const at::Tensor* const input = tensor_at(arguments, 0);
  if (input == nullptr) return;
  require(input->dim() >= 2, "the input has no channels");
  for (size_t i = 1; i <= 4; ++i) {
    const at::Tensor* const tensor = tensor_at(arguments, i);
    require(tensor == nullptr || tensor->numel() == input->size(1),
            "statistics or weights are not as many as there are channels");
  }
}

/// (query, key, value, …): [batch, heads, length, width]; query heads may share key heads.
void attention(Arguments arguments) {
  const at::Tensor* const query = tensor_at(arguments, 0);
  const at::Tensor* const key = tensor_at(arguments, 1);
  const at::Tensor* const value = tensor_at(arguments, 2);
  if (query == nullptr || key == nullptr || value == nullptr) return;
  const bool fit = query->dim() == 4 && key->dim() == 4 && key->sizes() == value->sizes() &&
                   query->size(0) == key->size(0) && query->size(3) == key->size(3) &&
                   key->size(1) > 0 && query->size(1) % key->size(1) == 0;
  require(fit, "queries, keys and values have shapes that do not fit each other");
}

/// (self, dimensions, normalization, …)
void transform(Arguments arguments) {
  const at::Tensor* const input = tensor_at(arguments, 0);
  if (input == nullptr || !arguments[1].isIntList()) return;
  const auto dimensions = arguments[1].toIntVector();
  require(!dimensions.empty() && input->numel() > 0, "there is nothing to transform");
  for (auto one = dimensions.begin(); one != dimensions.end(); ++one) {
    require(*one >= 0 && *one < input->dim(), "a dimension is out of range");
    require(std::find(dimensions.begin(), one, *one) == one, "a dimension is there twice");
  }
}

/// (self, dimensions, normalization, length of the last dimension)
void inverse_transform(Arguments arguments) {
  transform(arguments);
  const at::Tensor* const input = tensor_at(arguments, 0);
  if (input == nullptr || !arguments[1].isIntList() || !arguments[3].isInt()) return;
  const int64_t length = arguments[3].toInt();
  require(length >= 1 && input->size(arguments[1].toIntVector().back()) == length / 2 + 1,
          "the input is not half as long as the result");
}

/// (self, mask, indices, fill)
void masked_index(Arguments arguments) {
  const at::Tensor* const input = tensor_at(arguments, 0);
  const at::Tensor* const mask = tensor_at(arguments, 1);
  if (input == nullptr || mask == nullptr) return;
  require(input->numel() > 0, "there is nothing to take");
  require(mask->scalar_type() == at::kBool, "the mask is not of booleans");
}

/// (weight, indices, offsets, …): a bag extends from its offset to the next one.
void bags(Arguments arguments) {
  const at::Tensor* const weight = tensor_at(arguments, 0);
  const at::Tensor* const indices = tensor_at(arguments, 1);
  const at::Tensor* const offsets = tensor_at(arguments, 2);
  if (weight == nullptr || indices == nullptr || offsets == nullptr) return;
  const bool integers = c10::isIntegralType(indices->scalar_type(), false) &&
                        c10::isIntegralType(offsets->scalar_type(), false);
  require(weight->dim() == 2 && integers, "expected a table, and indices of integers");
  if (indices->numel() > 0) {
    require(indices->min().item<int64_t>() >= 0 && indices->max().item<int64_t>() < weight->size(0),
            "an index is outside of the table");
  }
  const at::Tensor starts = offsets->to(at::kLong).contiguous();
  const std::span bounds(starts.const_data_ptr<int64_t>(), static_cast<size_t>(starts.numel()));
  require(!bounds.empty() && bounds.front() == 0 && bounds.back() <= indices->numel() &&
              std::ranges::is_sorted(bounds),
          "the offsets do not ascend from 0 within the indices");
}

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

/// (a, b, …), integers: the processor traps on division by zero and on overflow.
void integer_division(Arguments arguments) {
  if (arguments.size() < 2 || !arguments[0].isInt() || !arguments[1].isInt()) return;
  require(arguments[1].toInt() != 0, "division by zero");
  require(arguments[0].toInt() != kLeast || arguments[1].toInt() != -1, "the quotient overflows");
}

/// (a, b), integers
void common_divisor(Arguments arguments) {
  for (const c10::IValue& argument : arguments) {
    require(!argument.isInt() || argument.toInt() != kLeast, "the divisor overflows");
  }
}

bool holds(const c10::IValue& value, int64_t number) {
  if (value.isInt()) return value.toInt() == number;
  return value.isTensor() && at::eq(value.toTensor(), number).any().item<bool>();
}

/// (self, other, *, rounding_mode): integer tensors raise an error on division by zero, but trap on
/// overflow.
void truncated_division(Arguments arguments) {
  if (arguments.size() < 3 || !arguments[2].isString()) return;
  const at::Tensor* const self = tensor_at(arguments, 0);
  if (self == nullptr || !c10::isIntegralType(self->scalar_type(), false)) return;
  require(!holds(arguments[1], -1) || !holds(arguments[0], kLeast), "the quotient overflows");
}

/// (type, type), as integers
void promoted_types(Arguments arguments) {
  for (const c10::IValue& type : arguments) {
    require(type.isInt() && type.toInt() >= 0 &&
                type.toInt() < static_cast<int64_t>(c10::ScalarType::NumOptions),
            "there is no such type");
  }
}

/// (self, output_size, align_corners, scale of the height, scale of the width): the operator does
/// not check that scales and sizes are consistent.
void smoothed_resize(Arguments arguments) {
  const at::Tensor* const self = tensor_at(arguments, 0);
  if (self == nullptr || self->dim() != 4 || !arguments[1].isIntList()) return;
  const auto sizes = arguments[1].toIntVector();
  for (size_t i = 0; i < 2 && i < sizes.size() && 3 + i < arguments.size(); ++i) {
    if (!arguments[3 + i].isDouble()) continue;
    const double size =
        static_cast<double>(self->size(static_cast<int64_t>(2 + i))) * arguments[3 + i].toDouble();
    require(std::floor(size) == static_cast<double>(sizes[i]), "the scales are not of these sizes");
  }
}

/// (A, B, …)
void least_squares(Arguments arguments) {
  for (size_t i = 0; i < 2; ++i) {
    const at::Tensor* const factor = tensor_at(arguments, i);
    require(factor == nullptr || factor->numel() > 0, "there is nothing to solve");
  }
}

struct Lstm {
  at::Tensor input;
  std::vector<at::Tensor> states;
  std::vector<at::Tensor> parameters;
  bool has_biases = false;
  int64_t layers = 0;
  int64_t directions = 1;

  int64_t hidden() const { return states[1].size(2); }
  /// Output size; smaller than hidden() if the output is projected.
  int64_t given() const { return states[0].size(2); }
};

Lstm lstm_of(Arguments arguments) {
  const size_t states = arguments[1].isTensor() ? 2 : 1;
  return {.input = arguments[0].toTensor(),
          .states = arguments[states].toTensorVector(),
          .parameters = arguments[states + 1].toTensorVector(),
          .has_biases = arguments[states + 2].toBool(),
          .layers = arguments[states + 3].toInt(),
          .directions = arguments[states + 6].toBool() ? 2 : 1};
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

/// Shapes of a layer's parameters in one direction.
std::vector<std::vector<int64_t>> shapes_of(const Lstm& lstm, int64_t layer) {
  const int64_t gates = 4 * lstm.hidden();
  const int64_t inputs = layer == 0 ? lstm.input.size(-1) : lstm.directions * lstm.given();
  std::vector<std::vector<int64_t>> shapes{{gates, inputs}, {gates, lstm.given()}};
  if (lstm.has_biases) shapes.insert(shapes.end(), 2, {gates});
  if (lstm.given() != lstm.hidden()) shapes.push_back({lstm.given(), lstm.hidden()});
  return shapes;
}

/// aten::lstm: (input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
/// batch_first), or of packed sequences: (data, batch_sizes, hx, …, bidirectional). oneDNN derives
/// the size of the weights from the states (LibTorch 2.15).
void fitting_lstm(Arguments arguments) {
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

}  // namespace

Precondition precondition_of(std::string_view name) {
  static const auto* preconditions = new std::unordered_map<std::string_view, Precondition>{
      {"aten::_weight_norm", weight_norm},
      {"aten::_weight_norm_interface", weight_norm},
      {"aten::native_batch_norm", batch_norm},
      {"aten::_native_batch_norm_legit", batch_norm},
      {"aten::_native_batch_norm_legit_no_training", batch_norm},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", attention},
      {"aten::_fft_c2c", transform},
      {"aten::_fft_r2c", transform},
      {"aten::_fft_c2r", inverse_transform},
      {"aten::_unsafe_masked_index", masked_index},
      {"aten::embedding_bag", bags},
      {"aten::_embedding_bag_forward_only", bags},
      {"aten::lstm", fitting_lstm},
      {"aten::__round_to_zero_floordiv", integer_division},
      {"aten::floordiv", integer_division},
      {"aten::remainder", integer_division},
      {"aten::gcd", common_divisor},
      {"aten::div", truncated_division},
      {"aten::div_", truncated_division},
      {"aten::divide", truncated_division},
      {"aten::divide_", truncated_division},
      {"aten::promote_types", promoted_types},
      {"aten::_upsample_bilinear2d_aa", smoothed_resize},
      {"aten::_upsample_bicubic2d_aa", smoothed_resize},
      {"aten::_upsample_lanczos2d_aa", smoothed_resize},
      {"aten::linalg_lstsq", least_squares},
  };
  const auto found = preconditions->find(name);
  return found == preconditions->end() ? nullptr : found->second;
}

}  // namespace backend
