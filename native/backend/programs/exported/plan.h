// Execution plan of a graph: resolved operators, ordered arguments, values in numbered slots.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "packed/linear.h"
#include "programs/exported/symbolic.h"
#include "programs/preconditions.h"
#include "programs/rewrite/graph_view.h"

namespace backend {

using Slot = uint32_t;

/// Source of an argument.
struct Operand {
  enum class From : uint8_t { kConstant, kSlot, kList };
  From from = From::kConstant;
  bool is_last_use = false;  ///< last use of the slot: its value is moved out
  Slot slot = 0;
  c10::IValue constant = {};
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::vector<Operand> items = {};
  const c10::Argument* expected = nullptr;  ///< in the operator's schema; null: no conversion

  bool is_constant() const { return from == From::kConstant; }
};

/// Slots of an operator's result; a list of tensors has a slot for each item.
struct Result {
  bool is_list = false;
  std::vector<std::optional<Slot>> slots;  ///< unset: the value is unused
};

struct Plan;

struct Cond {
  std::shared_ptr<const Plan> if_true, if_false;
};
struct WhileLoop {
  std::shared_ptr<const Plan> condition, body;
  size_t carried;
};

struct Step {
  std::string name;  ///< node name, for error messages
  /// std::monostate: fused into another step.
  std::variant<std::monostate, c10::OperatorHandle, SymbolicFunction, Layer, Cond, WhileLoop> call;
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::vector<size_t> written;  ///< indices of operands it may write to
  bool zero_result = false;     ///< the result is uninitialized and must be zeroed
  Precondition precondition = nullptr;
};

struct Plan {
  std::vector<Slot> inputs;
  std::vector<Step> steps;
  std::vector<Operand> outputs;
  size_t slots = 0;
};

/// Memory that runs must not write to: weights, constants, and values computed from them at load
/// time.
class SharedMemory {
 public:
  void add(const at::Tensor& tensor);
  bool contains(const at::Tensor& tensor) const;

  /// Removes storages without other owners.
  void remove_unused();

 private:
  std::unordered_map<const c10::StorageImpl*, c10::Storage> storages_;
};

/// Applies rewrite() to a plan, without its subplans. New weights are added to the shared memory.
void rewrite_plan(Plan& plan, PackedLinears& layers, SharedMemory& shared);

/// Executes a plan. Throws the errors of operators; scheduler::BackendError if one would write to
/// shared memory.
std::vector<c10::IValue> run_plan(const Plan& plan, std::vector<c10::IValue> inputs,
                                  const SharedMemory& shared);

}  // namespace backend
