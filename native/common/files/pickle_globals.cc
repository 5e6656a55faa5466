#include "common/files/pickle_globals.h"

#include <unordered_map>

namespace common {
namespace {

using Globals = std::unordered_map<std::string_view, Global>;
using enum Global::Kind;

const Globals& common_globals() {
  using enum c10::ScalarType;
  static const auto* globals = new Globals{
      {"torch.FloatStorage", {kStorageType, Float}},
      {"torch.DoubleStorage", {kStorageType, Double}},
      {"torch.HalfStorage", {kStorageType, Half}},
      {"torch.BFloat16Storage", {kStorageType, BFloat16}},
      {"torch.LongStorage", {kStorageType, Long}},
      {"torch.IntStorage", {kStorageType, Int}},
      {"torch.ShortStorage", {kStorageType, Short}},
      {"torch.CharStorage", {kStorageType, Char}},
      {"torch.ByteStorage", {kStorageType, Byte}},
      {"torch.BoolStorage", {kStorageType, Bool}},
      {"torch.ComplexFloatStorage", {kStorageType, ComplexFloat}},
      {"torch.ComplexDoubleStorage", {kStorageType, ComplexDouble}},
      {"collections.OrderedDict", {kOrderedDict}},
      {"torch._utils._rebuild_tensor_v2", {kTensor}},
  };
  return *globals;
}

/// Source: torch/_utils.py
const Globals& state_dict_globals() {
  static const auto* globals = new Globals{
      {"torch._utils._rebuild_tensor", {kTensor}},
      {"torch._utils._rebuild_parameter", {kFirstArgument}},
      {"torch._utils._rebuild_parameter_with_state", {kFirstArgument}},
  };
  return *globals;
}

/// Source: torch/csrc/jit/serialization/pickler.cpp and unpickler.cpp
const Globals& torchscript_globals() {
  static const auto* globals = new Globals{
      {"torch.jit._pickle.build_intlist", {kFirstArgument}},
      {"torch.jit._pickle.build_tensorlist", {kFirstArgument}},
      {"torch.jit._pickle.build_doublelist", {kFirstArgument}},
      {"torch.jit._pickle.build_boollist", {kFirstArgument}},
      {"torch.jit._pickle.restore_type_tag", {kFirstArgument}},
      {"torch.device", {kObject}},
      {"builtins.complex", {kObject}},
  };
  return *globals;
}

/// True for classes with code in the file, false for C++ classes.
bool is_model_class(std::string_view name) {
  return name.starts_with("__torch__.") && !name.starts_with("__torch__.torch.classes");
}

}  // namespace

std::optional<Global> find_global(std::string_view name, PickleKind kind) {
  const bool is_script = kind == PickleKind::kTorchScript;
  if (is_script && is_model_class(name)) return Global{kObject};
  for (const Globals* globals :
       {&common_globals(), is_script ? &torchscript_globals() : &state_dict_globals()}) {
    if (const auto found = globals->find(name); found != globals->end()) return found->second;
  }
  return std::nullopt;
}

std::string_view description_of(PickleKind kind) {
  return kind == PickleKind::kTorchScript ? "a TorchScript model" : "a state_dict";
}

}  // namespace common
