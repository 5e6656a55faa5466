#include "programs/exported/operators.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <string_view>

#include "common/error.h"
#include "programs/allowed_operators.h"
#include "programs/exported/higher_order.h"
#include "programs/exported/symbolic.h"
#include "scheduler/backend.h"

namespace backend {
namespace {

constexpr std::string_view kOperators = "torch.ops.";
constexpr std::string_view kAten = "aten::";

/// Problem of operators that ALLOWED_OPERATORS can allow.
constexpr std::string_view kNotAllowed = "is not allowed";

/// Operators of exported programs that TorchScript does not use. They access only their tensors.
constexpr std::string_view kExportedOnly =
    "_assert_scalar _has_compatible_shallow_copy_type _assert_tensor_metadata _assert_async "
    "sym_constrain_range sym_constrain_range_for_size sym_storage_offset sym_is_contiguous "
    "_local_scalar_dense _scaled_dot_product_flash_attention_for_cpu "
    "_scaled_dot_product_attention_math _safe_softmax _fft_r2c _fft_c2r _fft_c2c _cdist_forward "
    "_pdist_forward _embedding_bag_forward_only _native_batch_norm_legit empty_permuted "
    "new_empty_strided _unsafe_index _unsafe_masked_index as_strided squeeze_copy slice_copy "
    "unfold_copy _thnn_fused_lstm_cell _thnn_fused_gru_cell";

/// Operators that ALLOWED_OPERATORS cannot allow: they accept a pointer, access files, change state
/// shared with other models, or access memory outside their tensors.
constexpr std::string_view kForbidden =
    "set_ set from_file resize_ _resize_output_ resize_as_ save _reshape_alias mkldnn_rnn_layer";

/// True if "aten::NAME" is in `names`, separated by spaces.
bool contains(std::string_view names, std::string_view name) {
  return std::ranges::any_of(names | std::views::split(' '), [&](const auto& word) {
    return name.starts_with(kAten) &&
           name.substr(kAten.size()) == std::string_view(word.begin(), word.end());
  });
}

std::string text_before(std::string& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  std::string text = rest.substr(0, end);
  rest.erase(0, end + 1);
  return text;
}

/// Parts of "torch.ops.aten.linear.default".
struct Target {
  std::string library;
  std::string name;  ///< "aten::linear"
  std::string overload;

  explicit Target(const std::string& target) {
    std::string rest = target.substr(std::min(kOperators.size(), target.size()));
    library = text_before(rest, '.');
    name = library + "::" + text_before(rest, '.');
    overload = rest == "default" ? "" : rest;
  }
};

c10::IValue as_tensor(const c10::IValue& number) {
  at::Tensor tensor = c10::scalar_to_tensor(number.toScalar());
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);  // has no effect on type promotion
  return tensor;
}

bool is_number(const c10::IValue& value) {
  return value.isInt() || value.isDouble() || value.isBool() || value.isComplexDouble();
}

c10::IValue repeat_in_list(const c10::IValue& value, const c10::Type& element, int32_t count) {
  const auto size = static_cast<size_t>(std::max(count, 1));
  if (element.kind() == c10::TypeKind::FloatType) {
    return std::vector<double>(size, value.toScalar().toDouble());
  }
  if (element.kind() == c10::TypeKind::IntType && value.isInt()) {
    return std::vector<int64_t>(size, value.toInt());
  }
  return value;
}

c10::IValue converted_to(c10::IValue value, const c10::Type& type, int32_t count) {
  switch (type.kind()) {
    case c10::TypeKind::OptionalType:
      if (value.isNone()) return value;
      return converted_to(std::move(value), *type.castRaw<c10::OptionalType>()->getElementType(),
                          count);
    case c10::TypeKind::TensorType:
      return is_number(value) ? as_tensor(value) : std::move(value);
    case c10::TypeKind::FloatType:
      return value.isInt() ? c10::IValue(static_cast<double>(value.toInt())) : std::move(value);
    case c10::TypeKind::IntType:
      return value.isBool() ? c10::IValue(static_cast<int64_t>(value.toBool())) : std::move(value);
    case c10::TypeKind::ListType:
      if (!is_number(value)) return value;
      return repeat_in_list(value, *type.castRaw<c10::ListType>()->getElementType(), count);
    default:
      return value;
  }
}

/// True if the argument is the constant `false`.
bool is_off(const Node& node, std::string_view argument) {
  return std::ranges::any_of(node.inputs, [&](const tokenizers::NamedArgument& input) {
    return view(input.name) == argument && is_false(input.arg);
  });
}

/// Throws if a list item has another type: LibTorch does not check items.
void require_type(const c10::IValue& value, const c10::Type& type) {
  const bool is_right = [&] {
    switch (type.kind()) {
      case c10::TypeKind::TensorType:
        return value.isTensor();
      case c10::TypeKind::OptionalType:
        return value.isTensor() || value.isNone();
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        return value.isInt();
      case c10::TypeKind::FloatType:
        return value.isDouble();
      case c10::TypeKind::BoolType:
        return value.isBool();
      case c10::TypeKind::NumberType:
        return value.isScalar();
      default:
        return false;
    }
  }();
  if (!is_right) throw scheduler::BackendError("a list holds " + value.tagKind());
}

}  // namespace

FoundOperator find_operator(const rust::String& of_node,
                            const std::set<std::string>& added_operators) {
  const std::string target(of_node);
  if (!target.starts_with(kOperators)) {
    return {.handle = {}, .problem = "is an unknown operator"};
  }
  const auto& [library, name, overload] = Target(target);
  if (library == "higher_order") return {.handle = {}, .problem = "is not supported"};
  if (contains(kForbidden, name)) return {.handle = {}, .problem = "is never allowed"};
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!handle) return {.handle = {}, .problem = "is not in this LibTorch"};
  if (!is_allowed(name, added_operators) && !contains(kExportedOnly, name)) {
    return {.handle = {}, .problem = std::string(kNotAllowed)};
  }
  if (std::ranges::any_of(handle->schema().arguments(), &c10::Argument::is_out)) {
    return {.handle = {},
            .problem = "is never allowed"};  // torch.export does not generate such calls
  }
  return {.handle = handle, .problem = {}};
}

bool is_random(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::nondeterministic_seeded);
}

bool returns_uninitialized(const c10::OperatorHandle& op) {
  constexpr std::string_view kEmpty = "empty empty_like new_empty empty_permuted new_empty_strided";
  return contains(kEmpty, op.operator_name().name);
}

bool may_alias_input(const c10::OperatorHandle& op) {
  constexpr std::string_view kThese =
      "dropout feature_dropout alpha_dropout atleast_1d atleast_2d atleast_3d meshgrid "
      "broadcast_tensors cartesian_prod feature_alpha_dropout hsplit pad constant_pad_nd "
      "type_as to cpu contiguous reshape flatten unflatten real conj resolve_conj resolve_neg "
      "_unsafe_view _reshape_from_tensor positive sum_to_size sparse_mask pixel_shuffle movedim "
      "moveaxis ravel unsafe_split unsafe_split_with_sizes unsafe_chunk";
  return contains(kThese, op.operator_name().name);
}

bool writes_to(const c10::OperatorHandle& op, const Node& node, const c10::Argument& argument) {
  if (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) return true;
  // No annotation in their schemas: in training mode they update the statistics.
  constexpr std::string_view kNormalizations = "batch_norm native_batch_norm instance_norm";
  if (!contains(kNormalizations, op.operator_name().name)) return false;
  if (argument.name() != "running_mean" && argument.name() != "running_var") return false;
  return !is_off(node, "training") && !is_off(node, "use_input_stats");
}

bool is_identity(const c10::OperatorHandle& op, const Node& node) {
  constexpr std::string_view kAlways = "detach_ detach alias lift_fresh";
  constexpr std::string_view kDropout = "dropout feature_dropout alpha_dropout dropout_";
  const std::string_view name = op.operator_name().name;
  if (contains(kAlways, name)) return true;
  return contains(kDropout, name) && is_off(node, "train");
}

c10::IValue converted(c10::IValue value, const c10::Argument& expected) {
  return converted_to(std::move(value), *expected.type(), expected.N().value_or(1));
}

c10::IValue list_of(std::vector<c10::IValue> values, const c10::Argument& expected) {
  c10::TypePtr type = expected.type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  const auto list_type = type->cast<c10::ListType>();
  if (!list_type) throw scheduler::BackendError("unexpected list");
  const c10::TypePtr& element = list_type->getElementType();
  c10::impl::GenericList list(element);
  list.reserve(values.size());
  for (c10::IValue& value : values) {
    if (element->kind() == c10::TypeKind::FloatType && value.isInt()) {
      value = static_cast<double>(value.toInt());
    }
    require_type(value, *element);
    list.push_back(std::move(value));
  }
  return list;
}

// ---- Operators of whole graphs ----

namespace {

struct Use {
  size_t count = 0;
  std::string first_node;
  std::string problem;
};

std::string problem_of(const Node& node, const std::set<std::string>& added_operators) {
  if (is_higher_order(node)) return read_higher_order(node).problem;
  if (symbolic_operator(view(node.target))) return {};
  return find_operator(node.target, added_operators).problem;
}

void count(const Graph& graph, const std::set<std::string>& added_operators,
           std::map<std::string, Use>& uses) {
  for (const Node& node : graph.nodes) {
    Use& use = uses[std::string(node.target)];
    if (use.count == 0) use.first_node = name_of(node);
    // Higher-order nodes are checked individually: support depends on their arguments.
    if (use.problem.empty() && (use.count == 0 || is_higher_order(node))) {
      use.problem = problem_of(node, added_operators);
      if (!use.problem.empty()) use.first_node = name_of(node);
    }
    ++use.count;
    for (const auto& [name, argument] : node.inputs) {
      if (const Graph* inner = graph_in(argument)) count(*inner, added_operators, uses);
    }
  }
}

}  // namespace

std::vector<OperatorReport> list_operators(const Graph& graph,
                                           const std::set<std::string>& added_operators) {
  std::map<std::string, Use> uses;
  count(graph, added_operators, uses);
  std::vector<OperatorReport> operators;
  operators.reserve(uses.size());
  for (const auto& [name, use] : uses) {
    operators.push_back({.name = name, .count = use.count, .problem = use.problem});
  }
  return operators;
}

void require_allowed_operators(const Graph& graph, const std::set<std::string>& added_operators) {
  std::map<std::string, Use> uses;
  count(graph, added_operators, uses);
  std::string message;
  std::string to_allow;
  for (const auto& [name, use] : uses) {
    if (use.problem.empty()) continue;
    message +=
        (message.empty() ? "" : "; ") + name + " (node " + use.first_node + ") " + use.problem;
    if (use.problem == kNotAllowed) {
      to_allow.append(to_allow.empty() ? "" : ",").append(Target(name).name);
    }
  }
  if (message.empty()) return;
  if (!to_allow.empty()) {
    message += "; if you trust the file, set ALLOWED_OPERATORS=" + to_allow;
  }
  throw common::LoadError(message);
}

}  // namespace backend
