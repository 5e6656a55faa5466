// A plan as rewriting sees it.
#pragma once

#include "exported/plan.h"
#include "program/rewrite/graph_view.h"

namespace backend {

/// Of one plan, without those inside it. What is computed for it is added to the shared memory.
class PlanView final : public GraphView {
 public:
  PlanView(Plan& plan, SharedMemory& shared);

  size_t size() const override { return plan_.steps.size(); }
  std::string_view name(Call call) const override;
  Arguments arguments(Call call) const override;
  std::optional<Call> reader(Call call) const override;
  void set_argument(Call call, size_t index, const at::Tensor& value) override;
  void take_over(Call call, Call reader) override;
  void replace(Call call, size_t input, Layer layer) override;

  /// Last of all: steps that were taken over are no more.
  void remove_what_went();

 private:
  /// Of a slot.
  struct Uses {
    size_t count = 0;
    std::optional<Call> as_first;  ///< argument of this call, the last of those that there are
  };

  void count(const Operand& operand);

  Plan& plan_;
  SharedMemory& shared_;
  std::vector<Uses> uses_;
};

}  // namespace backend
