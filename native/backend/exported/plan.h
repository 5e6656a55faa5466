// A graph as it is run: operators looked up, arguments in their order, values in numbered slots.
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

#include "exported/symbolic.h"
#include "packed/linear.h"
#include "program/preconditions.h"
#include "program/rewrite/graph_view.h"

namespace backend {

using Slot = uint32_t;

/// Where an argument comes from.
struct Operand {
  enum class From : uint8_t { kConstant, kSlot, kList };
  From from = From::kConstant;
  bool is_last_use = false;  ///< of the slot: its value is moved away
  Slot slot = 0;
  c10::IValue constant = {};
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::vector<Operand> items = {};
  const c10::Argument* expected = nullptr;  ///< of the operator's schema; null: as it is

  bool is_constant() const { return from == From::kConstant; }
};

/// Of one result of an operator; a list of tensors has a slot for each.
struct Result {
  bool is_list = false;
  std::vector<std::optional<Slot>> slots;  ///< nothing: nobody reads it
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
  std::string name;  ///< of the node, for errors
  /// std::monostate: another step does its work.
  std::variant<std::monostate, c10::OperatorHandle, SymbolicFunction, Layer, Cond, WhileLoop> call;
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::vector<size_t> written;  ///< operands whose memory it writes to
  bool zeroes = false;          ///< its result begins as whatever lay in that memory
  Precondition precondition = nullptr;
};

struct Plan {
  std::vector<Slot> inputs;
  std::vector<Step> steps;
  std::vector<Operand> outputs;
  size_t slots = 0;
};

/// Memory that no run may write to: weights, constants, and what was computed from them at load.
class SharedMemory {
 public:
  void add(const at::Tensor& tensor);
  bool contains(const at::Tensor& tensor) const;

  /// Lets go of what nobody else has any more.
  void forget_unused();

 private:
  std::unordered_map<const c10::StorageImpl*, c10::Storage> storages_;
};

/// See program/rewrite. Of one plan, without those inside it. What is computed for it is added to
/// the shared memory.
void rewrite_plan(Plan& plan, PackedLinears& layers, SharedMemory& shared);

/// Throws what operators throw; scheduler::BackendError where one would write to shared memory.
std::vector<c10::IValue> run_plan(const Plan& plan, std::vector<c10::IValue> inputs,
                                  const SharedMemory& shared);

}  // namespace backend
