// A program behind the engine: tried first, and within limits always.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "program/program.h"
#include "program/rows.h"
#include "text/model_backend.h"

namespace backend {

/// Any thread, once the trial of its constructor is over.
class ProgramBackend : public ModelBackend {
 public:
  /// Groups that share a call of the program run one after the other. The pool helps layers of
  /// ours; LibTorch's operators have threads of their own. Throws scheduler::BackendError,
  /// scheduler::RunTimeout among them; in the trial LoadError too.
  std::vector<scheduler::Output> run_batch(Batch batch, const scheduler::AssignedPool& pool) final;

 protected:
  using Compare = bool (*)(const scheduler::Output& a, const scheduler::Output& b);

  ProgramBackend(std::unique_ptr<Program> program, const std::string& path,
                 const ComputeOptions& compute);

  const std::string& file() const { return file_; }
  const Program& program() const { return *program_; }

  /// Which of a batch share a call, and how many rows it has. `things`: how many the program takes.
  /// `most`: that are given to it.
  void limit_rows(const DimRange& things, int64_t most);

  /// What the program is given.
  virtual std::vector<c10::IValue> arguments(const Rows& rows, Batch batch) const = 0;

  /// What it gave: the answers of the rows, one after the other. Throws scheduler::BackendError.
  virtual at::Tensor answers(const c10::IValue& output, const Rows& rows) const = 0;

  /// Of one row: what the input has asked for.
  virtual scheduler::Output output_of(std::span<const float> answer,
                                   const Sequence& /*input*/) const {
    return {.values = {answer.begin(), answer.end()}};
  }

  std::vector<scheduler::Output> run_batch(Batch batch) { return run_batch(batch, nullptr); }

  /// Whether a run gives these answers; not where it fails.
  bool gives(std::span<const scheduler::Output> answers, Batch batch, Compare compare);

  /// The thread's part of prepare_thread().
  void prepare_program() const;

  /// Runs are held to less memory until now.
  void end_trial() { in_trial_ = false; }

  /// The load error of a trial that took too long.
  LoadError too_slow_to_try() const { return LoadError(too_slow(file_, compute_.run_limit)); }

  /// Of so many numbers in a row of an answer. `thing`: one of what shares a run.
  ModelReport report_of(size_t num_outputs, const std::string& thing) const;

  RowLimits limits_;

 private:
  std::unique_ptr<Program> program_;
  std::string file_;
  ComputeOptions compute_;
  DimRange things_;
  bool in_trial_ = true;
};

/// As a batch of them.
std::vector<const Sequence*> pointers_to(const std::vector<Sequence>& sequences);

/// Whether two answers to one input are the same, but for the last digits of a sum. Of a signal
/// model, whose outputs may be anything: in probability, as how far apart logits may be depends on
/// their size. Outputs in [0, 1] may be probabilities already, and are compared as they are too.
bool allclose_in_probability(const scheduler::Output& a, const scheduler::Output& b);

/// Of a text model, [num_labels] each: in proportion to the largest of them.
bool allclose_in_logits(const scheduler::Output& a, const scheduler::Output& b);

/// Each tried first. Throws LoadError, or what the program throws.
///
/// Of windows of a signal.
LoadedModel serve_signals(std::unique_ptr<Program> program, const SignalProgramSource& source,
                          const ComputeOptions& compute);
/// Of texts, behind the tokenizer of a Hugging Face directory.
LoadedModel serve_texts(std::unique_ptr<Program> program, const TextProgramSource& source,
                        const ComputeOptions& compute);

}  // namespace backend
