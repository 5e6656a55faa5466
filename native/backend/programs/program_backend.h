// Base class of models that are programs, with a load-time check and run limits.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "common/error.h"
#include "programs/program.h"
#include "programs/rows.h"
#include "text/model_backend.h"

namespace backend {

/// A program as a model. Thread-safe after the load-time check in the constructor.
class ProgramBackend : public ModelBackend {
 public:
  /// Runs the batch in groups: in parallel on the pool after split_groups_over_threads(), otherwise
  /// sequentially. A sequential run uses the pool in our packed layers; LibTorch's operators have
  /// their own threads. Throws scheduler::BackendError, including scheduler::RunTimeout; during the
  /// load-time check also LoadError.
  std::vector<scheduler::Output> run_batch(Batch batch, const scheduler::AssignedPool& pool) final;

 protected:
  using Compare = bool (*)(const scheduler::Output& a, const scheduler::Output& b);

  ProgramBackend(std::unique_ptr<Program> program, const std::string& path,
                 const ComputeOptions& compute);

  const std::string& file() const { return file_; }
  const Program& program() const { return *program_; }

  /// Sets the limits of a group. `batch_range`: rows that the program accepts. `most`: maximum rows
  /// to use.
  void limit_batch(const DimRange& batch_range, int64_t most);

  /// Lets the threads of the pool share a batch. The program must support smaller batches.
  void split_groups_over_threads() { splits_groups_ = true; }

  /// Arguments of the program for a group.
  virtual std::vector<c10::IValue> arguments(const RowGroup& rows, Batch batch) const = 0;

  /// Output rows of a group, contiguous. Throws scheduler::BackendError.
  virtual at::Tensor extract_outputs(const c10::IValue& output, const RowGroup& rows) const = 0;

  /// Output of a sequence from its row.
  virtual scheduler::Output row_output(std::span<const float> row,
                                       const Sequence& /*input*/) const {
    return {.values = {row.begin(), row.end()}};
  }

  std::vector<scheduler::Output> run_batch(Batch batch) { return run_batch(batch, nullptr); }

  /// True if a run of the batch succeeds with outputs that are equal by `compare`.
  bool matches(std::span<const scheduler::Output> outputs, Batch batch, Compare compare);

  /// Prepares the program for the calling thread.
  void prepare_program() const;

  /// Ends the load-time check, and with it the memory limit of runs.
  void end_load_time_check() { checking_ = false; }

  /// Error of a load-time check that exceeded the run limit.
  common::LoadError check_timed_out() const {
    return common::LoadError(run_limit_error(file_, compute_.run_limit));
  }

  /// Report of the model. `num_outputs`: values in an output row. `thing`: "text" or "window".
  ModelReport report_of(size_t num_outputs, const std::string& thing) const;

  RowGroupLimits limits_;

 private:
  void run_in_parallel(const std::vector<RowGroup>& groups, Batch batch,
                       std::vector<scheduler::Output>& results) const;
  void run_group(const RowGroup& rows, Batch batch, std::vector<scheduler::Output>& results) const;

  std::unique_ptr<Program> program_;
  std::string file_;
  ComputeOptions compute_;
  DimRange batch_range_;
  bool checking_ = true;
  bool splits_groups_ = false;
};

/// Pointers to the sequences, as a batch.
std::vector<const Sequence*> to_batch(const std::vector<Sequence>& sequences);

/// Compares outputs of a signal model up to rounding. Its outputs are arbitrary: they are compared
/// as probabilities, because the absolute error of logits depends on their scale. Values in [0, 1]
/// may already be probabilities and are also compared directly.
bool allclose_in_probability(const scheduler::Output& a, const scheduler::Output& b);

/// Compares logits of a text model up to rounding, relative to the largest one.
bool allclose_in_logits(const scheduler::Output& a, const scheduler::Output& b);

/// Checks the program and returns it as a model. Throws LoadError, or errors of the program.
LoadedModel serve_signals(std::unique_ptr<Program> program, const SignalProgramSource& source,
                          const ComputeOptions& compute);
/// Like serve_signals(), for texts and the tokenizer of a Hugging Face directory.
LoadedModel serve_texts(std::unique_ptr<Program> program, const TextProgramSource& source,
                        const ComputeOptions& compute);

}  // namespace backend
