#include "programs/exported/plan_builder.h"

#include <algorithm>
#include <ranges>
#include <span>

#include "programs/exported/operators.h"
#include "programs/exported/scope.h"
#include "programs/preconditions.h"
#include "programs/run_limit.h"

namespace backend {
namespace {

using c10::IValue;

/// Maximum size of a folded constant that is larger than its inputs: it stays in memory.
constexpr size_t kMaxFolded = size_t{16} << 20U;

void mark(std::vector<Operand>& operands, std::vector<bool>& is_used) {
  for (Operand& operand : std::views::reverse(operands)) {
    mark(operand.items, is_used);
    if (operand.from != Operand::From::kSlot || is_used[operand.slot]) continue;
    is_used[operand.slot] = true;
    operand.is_last_use = true;
  }
}

/// Marks the last use of each slot, which moves the value out, and removes unused results.
void mark_last_uses(Plan& plan) {
  std::vector<bool> is_used(plan.slots);
  mark(plan.outputs, is_used);
  for (Step& step : std::views::reverse(plan.steps)) {
    for (Result& result : step.results) {
      for (auto& slot : result.slots) {
        if (slot && !is_used[*slot]) slot.reset();
      }
    }
    mark(step.operands, is_used);
  }
}

class Builder {
 public:
  explicit Builder(const PlanOptions& options) : options_(options) {}

  Plan build(const Graph& graph, const std::vector<std::optional<IValue>>& inputs) {
    Scope scope(graph);
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const Argument& input = graph.inputs[i];
      if (!is_value(input)) continue;  // a constant of the signature; no node uses it
      const std::optional<IValue>& known = inputs[i];
      if (!known) plan_.inputs.push_back(next_slot_);
      scope.bind(input.text, known ? Operand{.constant = *known} : in_new_slot());
    }
    add_nodes(scope);
    for (const Argument& output : graph.outputs) {
      plan_.outputs.push_back(scope.operand_of(output, nullptr, "the output"));
    }
    plan_.slots = next_slot_;
    rewrite_plan(plan_, options_.layers, options_.shared);
    mark_last_uses(plan_);
    return std::move(plan_);
  }

 private:
  Operand in_new_slot() { return {.from = Operand::From::kSlot, .slot = next_slot_++}; }

  void add_nodes(Scope& scope) {
    for (const Node& node : scope.graph().nodes) {
      if (++nodes_ % 64 == 0) check_run_limit();
      if (is_higher_order(node)) {
        add_higher_order(scope, node);
      } else if (const auto symbolic = symbolic_operator(view(node.target))) {
        add_symbolic(scope, node, *symbolic);
      } else {
        add_operator(scope, node);
      }
    }
  }

  // ---- Tensor operators ----

  void add_operator(Scope& scope, const Node& node) {
    FoundOperator found = find_operator(node.target, options_.added_operators);
    if (!found.handle) reject(node, found.problem);
    const c10::OperatorHandle& op = *found.handle;
    if (is_identity(op, node)) return add_identity(scope, node);
    Step step;
    step.name = name_of(node);
    step.call = op;
    step.operands = scope.operands_of(node, op.schema());
    step.zero_result = returns_uninitialized(op);
    const auto& arguments = op.schema().arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (writes_to(op, node, arguments[i])) step.written.push_back(i);
    }
    step.precondition = precondition_of(op.operator_name().name);
    if (step.written.empty() && can_fold(scope, node, op, step)) return fold(scope, node, step);
    add_step(scope, node, std::move(step), op.schema().returns());
  }

  void add_identity(Scope& scope, const Node& node) {
    if (node.inputs.empty() || !is_value(node.inputs.front().arg) || node.outputs.size() != 1 ||
        !is_value(node.outputs.front())) {
      reject(node, "expected one tensor, to one");
    }
    const std::string from(node.inputs.front().arg.text);
    scope.bind(node.outputs.front().text, scope.value_of(from, name_of(node)));
  }

  bool can_fold(const Scope& scope, const Node& node, const c10::OperatorHandle& op,
                const Step& step) const {
    if (is_random(op) || step.zero_result || node.outputs.size() != 1) return false;
    if (op.schema().returns().size() != 1) return false;
    const Argument& output = node.outputs.front();
    return is_value(output) && std::ranges::all_of(step.operands, &Operand::is_constant) &&
           !options_.written.has(scope.graph(), std::string(output.text));
  }

  void fold(Scope& scope, const Node& node, Step& step) {
    const auto op = std::get<c10::OperatorHandle>(step.call);
    Plan alone;
    alone.slots = 1;
    alone.outputs.emplace_back().from = Operand::From::kSlot;
    step.results = {Result{.is_list = false, .slots = {Slot{0}}}};
    alone.steps.push_back(step);
    IValue value = run_plan(alone, {}, options_.shared).front();
    if (value.isTensor() && is_new_and_large(value.toTensor())) {
      step.results.clear();
      return add_step(scope, node, std::move(step), op.schema().returns());
    }
    if (value.isTensor()) options_.shared.add(value.toTensor());
    scope.bind(node.outputs.front().text, {.constant = std::move(value)});
  }

  bool is_new_and_large(const at::Tensor& tensor) const {
    if (!tensor.has_storage() || tensor.storage().nbytes() <= kMaxFolded) return false;
    return !options_.shared.contains(tensor);
  }

  // ---- Results ----

  void add_step(Scope& scope, const Node& node, Step step,
                const std::vector<c10::Argument>& returns) {
    if (node.outputs.size() != returns.size()) {
      reject(node, "names " + std::to_string(node.outputs.size()) +
                       " results, but the operator has " + std::to_string(returns.size()));
    }
    for (size_t i = 0; i < returns.size(); ++i) {
      const bool is_list = returns[i].type()->kind() == c10::TypeKind::ListType;
      const auto* list = list_in(node.outputs[i]);
      if (is_list != (list != nullptr)) reject(node, "names a list for a tensor, or the reverse");
      step.results.push_back(list ? result_of(scope, node, *list)
                                  : result_of(scope, node, {&node.outputs[i], 1}));
      step.results.back().is_list = is_list;
    }
    plan_.steps.push_back(std::move(step));
  }

  Result result_of(Scope& scope, const Node& node, std::span<const Argument> outputs) {
    Result result;
    for (const Argument& output : outputs) {
      if (is_value(output)) {
        result.slots.emplace_back(next_slot_);
        scope.bind(output.text, in_new_slot());
      } else if (output.kind == ArgumentKind::None) {
        result.slots.emplace_back();
      } else {
        reject(node, "gives what is neither a tensor nor a number");
      }
    }
    return result;
  }

  void add_symbolic(Scope& scope, const Node& node, const SymbolicOperator& symbolic) {
    Step step;
    step.name = name_of(node);
    step.call = symbolic.function;
    for (const auto& [name, argument] : node.inputs) {
      const auto* list = list_in(argument);
      for (const Argument& item : list ? std::span(*list) : std::span(&argument, 1)) {
        step.operands.push_back(scope.operand_of(item, nullptr, name_of(node)));
      }
    }
    if (step.operands.size() < symbolic.min_arguments ||
        step.operands.size() > symbolic.max_arguments) {
      reject(node, "has " + std::to_string(step.operands.size()) + " arguments");
    }
    if (node.outputs.size() != 1) reject(node, "expected one result");
    step.results.push_back(result_of(scope, node, node.outputs));
    plan_.steps.push_back(std::move(step));
  }

  // ---- Subgraphs ----

  void add_higher_order(Scope& scope, const Node& node) {
    const HigherOrder call = read_higher_order(node);
    if (!call.problem.empty()) reject(node, call.problem);
    if (call.kind == HigherOrder::Kind::kInline) return add_inline(scope, node, call);
    Step step;
    step.name = name_of(node);
    if (call.predicate) {
      step.operands.push_back(scope.operand_of(*call.predicate, nullptr, step.name));
    }
    for (const Argument& operand : call.operands) {
      step.operands.push_back(scope.operand_of(operand, nullptr, step.name));
    }
    std::vector<std::shared_ptr<const Plan>> plans;
    for (const Graph* graph : call.graphs) {
      const std::vector<std::optional<IValue>> none(graph->inputs.size());
      plans.push_back(std::make_shared<const Plan>(build_plan(*graph, none, options_)));
    }
    for (const Argument& output : node.outputs) {
      step.results.push_back(result_of(scope, node, {&output, 1}));
    }
    require_outputs(node, call, plans);
    if (call.kind == HigherOrder::Kind::kCond) {
      step.call = Cond{.if_true = plans[0], .if_false = plans[1]};
    } else {
      step.call = WhileLoop{.condition = plans[0], .body = plans[1], .carried = call.carried};
    }
    plan_.steps.push_back(std::move(step));
  }

  static void require_outputs(const Node& node, const HigherOrder& call,
                              const std::vector<std::shared_ptr<const Plan>>& plans) {
    const bool is_cond = call.kind == HigherOrder::Kind::kCond;
    for (size_t i = 0; i < plans.size(); ++i) {
      if (plans[i]->inputs.size() != call.operands.size()) reject(node, "has a graph of constants");
      const bool is_condition = !is_cond && i == 0;
      if (is_condition || plans[i]->outputs.size() == node.outputs.size()) continue;
      reject(node, "names " + std::to_string(node.outputs.size()) + " results, but its graph has " +
                       std::to_string(plans[i]->outputs.size()));
    }
  }

  void add_inline(Scope& scope, const Node& node, const HigherOrder& call) {
    const Graph& graph = *call.graphs.front();
    Scope inner(graph);
    for (size_t i = 0; i < call.operands.size(); ++i) {
      if (!is_value(graph.inputs[i])) continue;
      inner.bind(graph.inputs[i].text, value_of(scope, call.operands[i], node));
    }
    add_nodes(inner);
    if (graph.outputs.size() != node.outputs.size())
      reject(node, "expected as many results as its graph has");
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!is_value(node.outputs[i])) continue;
      scope.bind(node.outputs[i].text, value_of(inner, graph.outputs[i], node));
    }
  }

  static Operand value_of(const Scope& scope, const Argument& argument, const Node& node) {
    if (list_in(argument)) reject(node, "is given a list");
    return scope.operand_of(argument, nullptr, name_of(node));
  }

  const PlanOptions& options_;
  Plan plan_;
  Slot next_slot_ = 0;
  size_t nodes_ = 0;
};

}  // namespace

Plan build_plan(const Graph& graph, const std::vector<std::optional<IValue>>& inputs,
                const PlanOptions& options) {
  return Builder(options).build(graph, inputs);
}

}  // namespace backend
