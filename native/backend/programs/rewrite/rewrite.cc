#include "programs/rewrite/rewrite.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/StringUtil.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "packed/convolution.h"
#include "packed/pooling.h"

namespace backend {
namespace {

using Call = GraphView::Call;
using Arguments = GraphView::Arguments;

// ---- Batch normalization folding ----

bool is_false(const std::optional<c10::IValue>& value) {
  return value && value->isBool() && !value->toBool();
}

/// A constant float32 tensor; undefined for None; unset for other values.
std::optional<at::Tensor> constant_floats(const std::optional<c10::IValue>& value) {
  if (!value) return std::nullopt;
  if (value->isNone()) return at::Tensor();
  if (!value->isTensor()) return std::nullopt;
  const at::Tensor& tensor = value->toTensor();
  if (tensor.scalar_type() != at::kFloat || tensor.layout() != at::kStrided) return std::nullopt;
  return tensor;
}

/// y = (x - mean) × scale + bias for each channel, in float64.
struct Normalization {
  at::Tensor mean, scale, bias;
};

std::optional<Normalization> normalization_of(std::string_view name, const Arguments& arguments) {
  const bool is_any = name == "aten::batch_norm";
  if (!is_any && name != "aten::_native_batch_norm_legit_no_training") return std::nullopt;
  const auto& epsilon = arguments[is_any ? 7 : 6];
  if (is_any && !is_false(arguments[5]))
    return std::nullopt;             // training mode: normalizes over the batch
  std::array<at::Tensor, 4> values;  // weight, bias, mean, variance
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = constant_floats(arguments[i + 1]);
    if (!value) return std::nullopt;
    values.at(i) = value->defined() ? value->to(at::kDouble) : *value;
  }
  const auto& [weight, bias, mean, variance] = values;
  if (!mean.defined() || !variance.defined() || !epsilon || !epsilon->isDouble()) {
    return std::nullopt;
  }
  const at::Tensor deviation = (variance + epsilon->toDouble()).sqrt();
  return Normalization{
      .mean = mean,
      .scale = (weight.defined() ? weight : at::ones(mean.sizes(), mean.options())) / deviation,
      .bias = bias.defined() ? bias : at::zeros(mean.sizes(), mean.options())};
}

bool is_convolution(std::string_view name, const Arguments& arguments) {
  if (name == "aten::conv1d" || name == "aten::conv2d" || name == "aten::conv3d") return true;
  constexpr size_t kTransposed = 6;
  return name == "aten::convolution" && is_false(arguments[kTransposed]);
}

/// Folds the batch normalization that consumes a convolution. Returns false without such a
/// normalization, or if a weight is not constant float32.
bool fold_normalization(GraphView& graph, Call convolution) {
  const Arguments arguments = graph.arguments(convolution);
  if (!is_convolution(graph.name(convolution), arguments)) return false;
  const auto consumer = graph.consumer(convolution);
  if (!consumer) return false;
  const auto norm = normalization_of(graph.name(*consumer), graph.arguments(*consumer));
  const auto weight = constant_floats(arguments[1]);
  const auto bias = constant_floats(arguments[2]);
  if (!norm || !weight || !weight->defined() || !bias || weight->dim() < 2) return false;
  const int64_t channels = weight->size(0);
  for (const at::Tensor* tensor : {&norm->mean, &norm->scale, &norm->bias}) {
    if (tensor->dim() != 1 || tensor->size(0) != channels) return false;
  }
  std::vector<int64_t> of_channels(static_cast<size_t>(weight->dim()), 1);
  of_channels[0] = channels;
  const at::Tensor before = bias->defined() ? bias->to(at::kDouble) : at::zeros_like(norm->mean);
  graph.set_argument(convolution, 1,
                     (weight->to(at::kDouble) * norm->scale.view(of_channels)).to(at::kFloat));
  graph.set_argument(convolution, 2,
                     ((before - norm->mean) * norm->scale + norm->bias).to(at::kFloat));
  graph.fuse_consumer(convolution, *consumer);
  return true;
}

// ---- Packed layers ----

/// Constant arguments of an operator, None for `input`; unset if other arguments are not constant,
/// or if `input` is.
std::optional<std::vector<c10::IValue>> other_constants(size_t input, const Arguments& arguments) {
  std::vector<c10::IValue> constants(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    if (argument.has_value() == (i == input)) return std::nullopt;
    if (argument) constants[i] = *argument;
  }
  return constants;
}

bool fuse_relu(GraphView& graph, Call call) {
  const auto consumer = graph.consumer(call);
  if (!consumer) return false;
  const std::string_view name = graph.name(*consumer);
  if (name != "aten::relu" && name != "aten::relu_") return false;
  graph.fuse_consumer(call, *consumer);
  return true;
}

bool fuse_gelu(GraphView& graph, Call call) {
  const auto consumer = graph.consumer(call);
  if (!consumer || graph.name(*consumer) != "aten::gelu") return false;
  const auto approximation = graph.arguments(*consumer)[1];
  if (!approximation || !approximation->isString()) return false;
  if (approximation->toStringRef() != "none") return false;
  graph.fuse_consumer(call, *consumer);
  return true;
}

/// Throws if the layer does not support x.
void require_accepted(const PackedLinear& layer, const at::Tensor& x) {
  if (layer.accepts(x)) return;
  throw std::invalid_argument(c10::str("a linear layer takes float32 [..., ", layer.inputs(),
                                       "], received ", x.scalar_type(), ' ', x.sizes()));
}

bool pack_convolution(GraphView& graph, Call call) {
  const auto constants = other_constants(0, graph.arguments(call));
  if (!constants) return false;
  auto convolution = packed_convolution(graph.name(call), *constants);
  if (!convolution) return false;
  const bool fuses_relu = fuse_relu(graph, call);
  graph.replace(call, 0, [convolution = std::move(convolution), fuses_relu](const at::Tensor& x) {
    return (*convolution)(x, fuses_relu);
  });
  return true;
}

bool replace_pooling(GraphView& graph, Call call) {
  const auto constants = other_constants(0, graph.arguments(call));
  if (!constants) return false;
  auto pool = pooling(graph.name(call), *constants);
  if (!pool) return false;
  graph.replace(call, 0, [pool = std::move(pool)](const at::Tensor& x) { return (*pool)(x); });
  return true;
}

void pack_linear(GraphView& graph, Call call, PackedLinears& layers, bool fuses_gelu) {
  const auto input = linear_input(graph.name(call));
  if (!input) return;
  const auto constants = other_constants(*input, graph.arguments(call));
  if (!constants) return;
  auto layer = layers.pack(graph.name(call), *constants);
  if (!layer) return;
  const auto epilogue =
      fuses_gelu && fuse_gelu(graph, call) ? kernels::Epilogue::kGelu : kernels::Epilogue::kStore;
  graph.replace(call, *input, [layer = std::move(layer), epilogue](const at::Tensor& x) {
    require_accepted(*layer, x);
    return (*layer)(x, epilogue);
  });
}

}  // namespace

void rewrite(GraphView& graph, PackedLinears& layers, bool fuses_gelu) {
  for (Call call = 0; call < graph.size(); ++call) {
    if (graph.name(call).empty()) continue;
    while (fold_normalization(graph, call)) {
    }
    if (pack_convolution(graph, call) || replace_pooling(graph, call)) continue;
    pack_linear(graph, call, layers, fuses_gelu);
  }
}

}  // namespace backend
