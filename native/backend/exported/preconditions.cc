#include "exported/preconditions.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "engine/backend.h"

namespace backend {
namespace {

using Arguments = torch::jit::Stack;

void require(bool holds, const char* problem) {
  if (!holds) throw engine::BackendError(problem);
}

/// Null for None, and for what is no tensor: the operator refuses it.
const at::Tensor* tensor_at(const Arguments& arguments, size_t index) {
  if (index >= arguments.size() || !arguments[index].isTensor()) return nullptr;
  const at::Tensor& tensor = arguments[index].toTensor();
  return tensor.defined() ? &tensor : nullptr;
}

/// (v, g, dim)
void weight_norm(const Arguments& arguments) {
  const at::Tensor* const v = tensor_at(arguments, 0);
  const at::Tensor* const g = tensor_at(arguments, 1);
  if (v == nullptr || g == nullptr || !arguments[2].isInt()) return;
  const int64_t dimension = arguments[2].toInt();
  if (v->dim() == 0 || (dimension != 0 && dimension != v->dim() - 1)) return;  // other code
  require(g->numel() == v->size(dimension), "the lengths are not as many as there are rows");
}

/// (input, weight, bias, running_mean, running_var, …), or without the two last ones
void batch_norm(const Arguments& arguments) {
  const at::Tensor* const input = tensor_at(arguments, 0);
  if (input == nullptr) return;
  require(input->dim() >= 2, "the input has no channels");
  for (size_t i = 1; i <= 4; ++i) {
    const at::Tensor* const tensor = tensor_at(arguments, i);
    require(tensor == nullptr || tensor->numel() == input->size(1),
            "statistics or weights are not as many as there are channels");
  }
}

/// (query, key, value, …): [batch, heads, length, width]; heads of keys may be shared.
void attention(const Arguments& arguments) {
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
void transform(const Arguments& arguments) {
  const at::Tensor* const input = tensor_at(arguments, 0);
  if (input == nullptr || !arguments[1].isIntList()) return;
  const auto dimensions = arguments[1].toIntVector();
  require(!dimensions.empty() && input->numel() > 0, "there is nothing to transform");
  for (auto one = dimensions.begin(); one != dimensions.end(); ++one) {
    require(*one >= 0 && *one < input->dim(), "a dimension is out of range");
    require(std::find(dimensions.begin(), one, *one) == one, "a dimension is there twice");
  }
}

/// (self, dimensions, normalization, length of the last one)
void inverse_transform(const Arguments& arguments) {
  transform(arguments);
  const at::Tensor* const input = tensor_at(arguments, 0);
  if (input == nullptr || !arguments[1].isIntList() || !arguments[3].isInt()) return;
  const int64_t length = arguments[3].toInt();
  require(length >= 1 && input->size(arguments[1].toIntVector().back()) == length / 2 + 1,
          "the input is not half as long as the result");
}

/// (self, mask, indices, fill)
void masked_index(const Arguments& arguments) {
  const at::Tensor* const input = tensor_at(arguments, 0);
  const at::Tensor* const mask = tensor_at(arguments, 1);
  if (input == nullptr || mask == nullptr) return;
  require(input->numel() > 0, "there is nothing to take");
  require(mask->scalar_type() == at::kBool, "the mask is not of booleans");
}

}  // namespace

Precondition precondition_of(const c10::OperatorHandle& op) {
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
  };
  const auto found = preconditions->find(op.operator_name().name);
  return found == preconditions->end() ? nullptr : found->second;
}

}  // namespace backend
