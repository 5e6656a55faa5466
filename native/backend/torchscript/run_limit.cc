#include "torchscript/run_limit.h"

#include <c10/core/CPUAllocator.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "backend/model_config.h"
#include "runtime/resident_memory.h"

namespace backend {

using Clock = std::chrono::steady_clock;

struct RunBounds final : c10::DebugInfoBase {
  Clock::time_point end;
  size_t most_resident = 0;  ///< bytes; 0: any
  std::atomic<Clock::rep> next_look = 0;
  std::atomic<bool> time_was_up = false;
  std::atomic<bool> memory_was_short = false;
};

namespace {

using torch::jit::Node;
using torch::jit::Stack;

/// The largest run of a classifier's trial takes some hundred MB.
constexpr size_t kTrialMemory = size_t{1} << 30U;

/// Reading the size of the process takes microseconds.
constexpr Clock::duration kBetweenLooks = std::chrono::milliseconds(5);
constexpr size_t kSmallTensor = size_t{1} << 20U;

/// Elements of a list, or bytes of a string, that may still grow in a trial, or that one `*` may
/// make: what grows doubles at most, so that the process is looked at before it is too late.
constexpr int64_t kMostLength = 10'000'000;

/// Where LibTorch keeps what belongs to a run: the threads of a fork() have it, too.
constexpr std::string_view kPlaceName = "LIBTORCH_SERVE_RUN_LIMIT";
constexpr c10::DebugInfoKind kPlace(&kPlaceName);

constexpr const char* kCheck = "libtorch_serve::check_limits";
constexpr const char* kPass = "libtorch_serve::pass_if_short";
constexpr const char* kRepeat = "libtorch_serve::pass_if_few";

RunBounds* bounds_of_this_thread() {
  return static_cast<RunBounds*>(c10::ThreadLocalDebugInfo::get(kPlace));
}

[[noreturn]] void refuse_memory(RunBounds& bounds) {
  bounds.memory_was_short = true;
  throw std::runtime_error("too much memory");
}

void check_memory(RunBounds& bounds, size_t asked_for) {
  if (bounds.most_resident == 0) return;
  if (resident_memory() + asked_for > bounds.most_resident) refuse_memory(bounds);
}

void check_limits() {
  RunBounds* bounds = bounds_of_this_thread();
  if (bounds == nullptr) return;
  const auto now = Clock::now();
  if (now >= bounds->end) {
    bounds->time_was_up = true;
    throw std::runtime_error("the time is up");
  }
  if (now.time_since_epoch().count() < bounds->next_look) return;
  bounds->next_look = (now + kBetweenLooks).time_since_epoch().count();
  check_memory(*bounds, 0);
}

int64_t length_of(const c10::IValue& value) {
  if (value.isString()) return static_cast<int64_t>(value.toStringRef().size());
  return value.isList() ? static_cast<int64_t>(value.toListRef().size()) : 1;
}

/// (list or string) → the same
void pass_if_short(Stack& stack) {
  check_limits();
  RunBounds* bounds = bounds_of_this_thread();
  if (bounds != nullptr && bounds->most_resident > 0 && length_of(stack.back()) > kMostLength) {
    refuse_memory(*bounds);
  }
}

/// (list or string, times) → times
void pass_if_few(Stack& stack) {
  check_limits();
  const int64_t times = stack.back().toInt();
  const int64_t length = length_of(stack[stack.size() - 2]);
  RunBounds* bounds = bounds_of_this_thread();
  int64_t all = 0;
  if (bounds != nullptr && bounds->most_resident > 0 && times > 0 &&
      (__builtin_mul_overflow(length, times, &all) || all > kMostLength)) {
    refuse_memory(*bounds);
  }
  stack.erase(stack.end() - 2);
}

/// Conservative: they are taken to have side effects, so that no pass of the compiler removes them,
/// or computes what lies behind them beforehand.
void register_checks() {
  using torch::jit::Operator;
  constexpr auto kConservative = c10::AliasAnalysisKind::CONSERVATIVE;
  static const torch::jit::RegisterOperators registered({
      Operator(
          std::string(kCheck) + "() -> ()", [](Stack&) { check_limits(); }, kConservative),
      Operator(std::string(kPass) + "(Any value) -> Any", pass_if_short, kConservative),
      Operator(std::string(kRepeat) + "(Any value, int times) -> int", pass_if_few, kConservative),
  });
}

/// Operators whose result is larger than what they are given, for lists and strings.
bool grows(const Node& node) {
  constexpr std::array kGrowing{"aten::append",  "aten::add",          "aten::add_",
                                "aten::extend",  "aten::format",       "aten::join",
                                "aten::replace", "aten::percentFormat"};
  return std::ranges::find(kGrowing, std::string_view(node.kind().toQualString())) !=
         kGrowing.end();
}

bool is_list_or_string(const torch::jit::Value& value) {
  const auto kind = value.type()->kind();
  return kind == c10::TypeKind::ListType || kind == c10::TypeKind::StringType;
}

/// Puts `check` before `node`, and its result in the place of one of the node's inputs.
void guard_input(Node& node, size_t input, const char* check,
                 at::ArrayRef<torch::jit::Value*> arguments) {
  auto* guard = node.owningGraph()->create(c10::Symbol::fromQualString(check), arguments, 1);
  guard->output()->setType(node.input(input)->type());
  guard->insertBefore(&node);
  node.replaceInput(input, guard->output());
}

void guard_growth(Node& node) {
  if (node.inputs().empty() || node.outputs().empty()) return;
  if (grows(node) && (is_list_or_string(*node.output()) || is_list_or_string(*node.input(0)))) {
    guard_input(node, 0, kPass, {node.input(0)});
  }
  const bool repeats = node.kind() == c10::aten::mul || node.kind() == c10::aten::mul_;
  if (!repeats || !is_list_or_string(*node.output())) return;
  const size_t times = is_list_or_string(*node.input(0)) ? 1 : 0;
  guard_input(node, times, kRepeat, {node.input(1 - times), node.input(times)});
}

void guard_block(torch::jit::Block& block) {
  for (auto* node : block.nodes()) {
    for (auto* inner : node->blocks()) guard_block(*inner);
    if (node->hasAttribute(c10::attr::Subgraph)) {
      guard_block(*node->g(c10::attr::Subgraph)->block());
    }
    guard_growth(*node);
    if (node->kind() != c10::prim::Loop) continue;
    auto* check = block.owningGraph()->create(c10::Symbol::fromQualString(kCheck), 0);
    node->blocks().front()->prependNode(check);
  }
}

/// LibTorch's own, asked only while the limit allows it.
class LimitedAllocator final : public c10::Allocator {
 public:
  explicit LimitedAllocator(c10::Allocator& inner) : inner_(inner) {}

  c10::DataPtr allocate(size_t size) override {
    if (size >= kSmallTensor) {
      if (RunBounds* bounds = bounds_of_this_thread()) check_memory(*bounds, size);
    }
    return inner_.allocate(size);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_.raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    inner_.copy_data(to, from, count);
  }

 private:
  c10::Allocator& inner_;
};

}  // namespace

RunLimit::RunLimit(const ComputeOptions& compute, std::string tried)
    : progress_(compute.progress),
      tried_(std::move(tried)),
      run_limit_(compute.run_limit),
      bounds_(std::make_shared<RunBounds>()),
      guard_(kPlace, bounds_) {
  bounds_->end = Clock::now() + compute.run_limit;
  if (!tried_.empty()) bounds_->most_resident = resident_memory() + kTrialMemory;
  if (progress_) progress_->began();
}

RunLimit::~RunLimit() {
  if (progress_) progress_->ended();
}

void RunLimit::throw_if_reached() const {
  if (bounds_->time_was_up) throw engine::RunTimeout(run_limit_);
  if (!bounds_->memory_was_short) return;
  throw LoadError(tried_ + ": forward() asked for more than " +
                  std::to_string(kTrialMemory >> 20U) + " MiB of memory when it was tried");
}

std::string too_slow(const std::string& file, std::chrono::milliseconds limit) {
  return file + ": forward() did not end within " + std::to_string(limit.count()) +
         " ms when it was tried: if it has no endless loop, set INFERENCE_TIMEOUT_MS to more";
}

void limit_tensors() {
  static std::once_flag once;
  std::call_once(once, [] {
    // LibTorch keeps the pointer until the process ends.
    static LimitedAllocator& allocator = *new LimitedAllocator(*c10::GetCPUAllocator());
    c10::SetCPUAllocator(&allocator);
  });
}

void guard_code(torch::jit::CompilationUnit& functions) {
  register_checks();
  for (auto* function : functions.get_functions()) {
    if (auto* code = torch::jit::tryToGraphFunction(*function)) {
      guard_block(*code->graph()->block());
    }
  }
}

}  // namespace backend
