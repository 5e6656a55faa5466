#include "files/pickle_globals.h"

#include <unordered_map>

namespace backend {
namespace {

using Globals = std::unordered_map<std::string_view, Global>;

const std::unordered_map<std::string, c10::ScalarType>& storage_types() {
  using enum c10::ScalarType;
  static const auto* types = new std::unordered_map<std::string, c10::ScalarType>{
      {"torch.FloatStorage", Float},
      {"torch.DoubleStorage", Double},
      {"torch.HalfStorage", Half},
      {"torch.BFloat16Storage", BFloat16},
      {"torch.LongStorage", Long},
      {"torch.IntStorage", Int},
      {"torch.ShortStorage", Short},
      {"torch.CharStorage", Char},
      {"torch.ByteStorage", Byte},
      {"torch.BoolStorage", Bool},
      {"torch.ComplexFloatStorage", ComplexFloat},
      {"torch.ComplexDoubleStorage", ComplexDouble},
  };
  return *types;
}

/// Source: torch/_utils.py
const Globals& of_state_dicts() {
  using enum Global;
  static const auto* globals = new Globals{
      {"collections.OrderedDict", kOrderedDict},
      {"torch._utils._rebuild_tensor_v2", kTensor},
      {"torch._utils._rebuild_tensor", kTensor},
      {"torch._utils._rebuild_parameter", kFirstArgument},
      {"torch._utils._rebuild_parameter_with_state", kFirstArgument},
  };
  return *globals;
}

/// Source: torch/csrc/jit/serialization/pickler.cpp and unpickler.cpp
const Globals& of_scripts() {
  using enum Global;
  static const auto* globals = new Globals{
      {"collections.OrderedDict", kOrderedDict},
      {"torch._utils._rebuild_tensor_v2", kTensor},
      {"torch.jit._pickle.build_intlist", kFirstArgument},
      {"torch.jit._pickle.build_tensorlist", kFirstArgument},
      {"torch.jit._pickle.build_doublelist", kFirstArgument},
      {"torch.jit._pickle.build_boollist", kFirstArgument},
      {"torch.jit._pickle.restore_type_tag", kFirstArgument},
      {"torch.device", kObject},
      {"builtins.complex", kObject},
  };
  return *globals;
}

/// A class whose code is in the file; not one of C++.
bool is_own_class(std::string_view name) {
  return name.starts_with("__torch__.") && !name.starts_with("__torch__.torch.classes");
}

}  // namespace

std::optional<Global> meaning_of(const std::string& name, PickleOf what) {
  if (storage_types().contains(name)) return Global::kStorageType;
  const bool is_script = what == PickleOf::kTorchScript;
  if (is_script && is_own_class(name)) return Global::kObject;
  const Globals& globals = is_script ? of_scripts() : of_state_dicts();
  const auto found = globals.find(name);
  return found == globals.end() ? std::nullopt : std::optional(found->second);
}

std::optional<c10::ScalarType> element_type_of(const std::string& storage_type) {
  const auto found = storage_types().find(storage_type);
  return found == storage_types().end() ? std::nullopt : std::optional(found->second);
}

std::string_view called(PickleOf what) {
  return what == PickleOf::kTorchScript ? "a TorchScript model" : "a state_dict";
}

}  // namespace backend
