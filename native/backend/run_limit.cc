#include "run_limit.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

namespace backend {
namespace {

using Clock = std::chrono::steady_clock;

/// Where LibTorch keeps what belongs to a run: the threads of a fork() have it, too.
constexpr std::string_view kPlaceName = "LIBTORCH_SERVE_RUN_LIMIT";
constexpr c10::DebugInfoKind kPlace(&kPlaceName);

constexpr const char* kCheck = "libtorch_serve::check_time";

void check_time(torch::jit::Stack& /*stack*/) {
  auto* info = static_cast<Deadline*>(c10::ThreadLocalDebugInfo::get(kPlace));
  if (info == nullptr || Clock::now() < info->time) return;
  info->was_reached = true;
  throw std::runtime_error("the time is up");
}

/// Conservative: it is taken to have side effects, so that no pass of the compiler removes it.
void register_check() {
  static const torch::jit::RegisterOperators registered({torch::jit::Operator(
      std::string(kCheck) + "() -> ()", check_time, c10::AliasAnalysisKind::CONSERVATIVE)});
}

void guard_loops(torch::jit::Block& block) {
  for (auto* node : block.nodes()) {
    for (auto* inner : node->blocks()) guard_loops(*inner);
    if (node->hasAttribute(c10::attr::Subgraph))
      guard_loops(*node->g(c10::attr::Subgraph)->block());
    if (node->kind() != c10::prim::Loop) continue;
    auto* check = block.owningGraph()->create(c10::Symbol::fromQualString(kCheck), 0);
    node->blocks().front()->prependNode(check);
  }
}

}  // namespace

RunLimit::RunLimit(const ComputeOptions& compute)
    : progress_(compute.progress),
      deadline_(std::make_shared<Deadline>(Clock::now() + compute.run_limit)),
      guard_(kPlace, deadline_) {
  if (progress_) progress_->began();
}

RunLimit::~RunLimit() {
  if (progress_) progress_->ended();
}

std::string too_slow(const std::string& file, std::chrono::milliseconds limit) {
  return file + ": forward() did not end within " + std::to_string(limit.count()) +
         " ms when it was tried: if it has no endless loop, set INFERENCE_TIMEOUT_MS to more";
}

void guard_loops(torch::jit::CompilationUnit& functions) {
  register_check();
  for (auto* function : functions.get_functions()) {
    if (auto* code = torch::jit::tryToGraphFunction(*function))
      guard_loops(*code->graph()->block());
  }
}

}  // namespace backend
