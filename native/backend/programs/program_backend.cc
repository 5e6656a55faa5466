#include "programs/program_backend.h"

#include <ATen/ThreadLocalState.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "packed/parallel_for.h"
#include "programs/report.h"
#include "programs/run_limit.h"
#include "runtime/compute_types.h"
#include "runtime/runtime.h"

namespace backend {
namespace {

std::vector<double> softmax(const std::vector<float>& logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> exponentials;
  exponentials.reserve(logits.size());
  double sum = 0;
  for (const float logit : logits) sum += exponentials.emplace_back(std::exp(logit - highest));
  for (double& exponential : exponentials) exponential /= sum;
  return exponentials;
}

bool all_finite(const std::vector<float>& logits) {
  return std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
}

template <typename Values>
bool close(const Values& a, const Values& b) {
  constexpr double kTolerance = 1e-5;
  return std::ranges::equal(
      a, b, [](double left, double right) { return std::abs(left - right) <= kTolerance; });
}

}  // namespace

ProgramBackend::ProgramBackend(std::unique_ptr<Program> program, const std::string& path,
                               const ComputeOptions& compute)
    : program_(std::move(program)),
      file_(std::filesystem::path(path).filename().string()),
      compute_(compute) {
  program_->prepare_thread();
}

void ProgramBackend::limit_batch(const DimRange& batch_range, int64_t most) {
  batch_range_ = batch_range;
  limits_.max_rows = static_cast<size_t>(most);
  limits_.min_rows = static_cast<size_t>(std::max<int64_t>(batch_range.min, 1));
}

std::vector<scheduler::Output> ProgramBackend::run_batch(Batch batch,
                                                         const scheduler::AssignedPool& pool) {
  const ScopedThreadPool scoped_pool(pool);
  const RunLimit limit(compute_, checking_ ? file_ : "");
  try {
    const c10::InferenceMode inference_mode;
    std::vector<scheduler::Output> results(batch.size());
    const scheduler::ThreadPool* const current = ScopedThreadPool::current();
    const int64_t threads = current != nullptr && splits_groups_ ? current->threads() : 1;
    const std::vector<RowGroup> groups =
        split_groups(group_rows(batch, limits_), limits_,
                     threads > 1 ? static_cast<size_t>(threads * kPartsPerThread) : 1);
    if (threads > 1 && groups.size() > 1) {
      run_in_parallel(groups, batch, results);
    } else {
      set_intra_op_threads(compute_.threads_per_worker);
      for (const RowGroup& rows : groups) run_group(rows, batch, results);
    }
    return results;
  } catch (const scheduler::BackendError&) {
    throw;
  } catch (...) {
    limit.throw_if_reached();
    throw scheduler::BackendError(message_of_current_exception());
  }
}

/// Runs each group on one thread of the pool. The groups need no barrier, unlike the operators of
/// one run.
void ProgramBackend::run_in_parallel(const std::vector<RowGroup>& groups, Batch batch,
                                     std::vector<scheduler::Output>& results) const {
  static const scheduler::AssignedPool no_pool{nullptr};
  const at::ThreadLocalState caller;  // inference mode and run limit
  parallel_for(static_cast<int64_t>(groups.size()), [&](int64_t index) {
    const at::ThreadLocalStateGuard state(caller);
    const ScopedThreadPool scoped_pool(no_pool);
    program_->prepare_thread();
    set_intra_op_threads(1);
    run_group(groups[static_cast<size_t>(index)], batch, results);
  });
}

void ProgramBackend::run_group(const RowGroup& rows, Batch batch,
                               std::vector<scheduler::Output>& results) const {
  const auto count = static_cast<int64_t>(rows.count);
  const at::Tensor all =
      extract_outputs(program_->run(arguments(rows, batch)), rows).to(at::kFloat).contiguous();
  const auto* row = all.const_data_ptr<float>();
  const auto columns = static_cast<size_t>(all.numel() / count);
  for (const size_t index : rows.indices) {
    results[index] = row_output({row, columns}, *batch[index]);
    row += columns;
  }
}

bool ProgramBackend::matches(std::span<const scheduler::Output> outputs, Batch batch,
                             Compare compare) {
  try {
    return std::ranges::equal(run_batch(batch), outputs, compare);
  } catch (const scheduler::BackendError&) {
    return false;
  }
}

void ProgramBackend::prepare_program() const {
  silence_warnings();
  program_->prepare_thread();
}

ModelReport ProgramBackend::report_of(size_t num_outputs, const std::string& thing) const {
  ModelReport report{.kind = program_->kind(),
                     .num_outputs = num_outputs,
                     .kernels_in_use = describe_kernels(program_->linear()),
                     .warnings = program_->warnings(),
                     .load_time_check = {}};
  if (batch_range_.is_fixed()) {
    report.warnings.push_back(fixed_number_warning(file_, batch_range_.max, thing));
  }
  return report;
}

std::vector<const Sequence*> to_batch(const std::vector<Sequence>& sequences) {
  std::vector<const Sequence*> pointers(sequences.size());
  std::ranges::transform(sequences, pointers.begin(), [](const auto& one) { return &one; });
  return pointers;
}

bool allclose_in_probability(const scheduler::Output& left, const scheduler::Output& right) {
  const std::vector<float>&a = left.values, &b = right.values;
  if (a.size() != b.size() || a.empty()) return false;
  if (!all_finite(a) || !all_finite(b)) return all_finite(a) == all_finite(b);  // both fail
  const auto [lowest, highest] = std::ranges::minmax(a);
  if (lowest >= 0 && highest <= 1 && !close(a, b)) return false;
  return close(softmax(a), softmax(b));
}

bool allclose_in_logits(const scheduler::Output& left, const scheduler::Output& right) {
  const std::vector<float>&a = left.values, &b = right.values;
  constexpr float kTolerance = 2e-5F;
  // An infinite scale would make all values equal.
  float scale = 1.0F;
  for (const float logit : a) {
    if (std::isfinite(logit)) scale = std::max(scale, std::abs(logit));
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= kTolerance * scale)) return false;  // also if one is NaN
  }
  return true;
}

}  // namespace backend
