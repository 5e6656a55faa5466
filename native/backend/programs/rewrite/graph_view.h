// Interface of the rewriter to a graph.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace backend {

/// A layer with constant weights. Thread-safe.
using Layer = std::function<at::Tensor(const at::Tensor& x)>;

/// Operator calls of a graph: a frozen TorchScript module, or the plan of an exported program.
class GraphView {
 public:
  /// Index of a call, in execution order.
  using Call = size_t;
  /// Arguments; unset if not constant.
  using Arguments = std::vector<std::optional<c10::IValue>>;

  GraphView() = default;
  virtual ~GraphView() = default;
  GraphView(const GraphView&) = delete;
  GraphView& operator=(const GraphView&) = delete;

  virtual size_t size() const = 0;

  /// "aten::linear"; empty for other nodes and for rewritten calls.
  virtual std::string_view name(Call call) const = 0;

  /// Arguments in the order of the operator's schema.
  virtual Arguments arguments(Call call) const = 0;

  /// The only consumer of the call's result, which it reads as its first argument; unset if there
  /// are others, or if further results of the consumer are used.
  virtual std::optional<Call> consumer(Call call) const = 0;

  virtual void set_argument(Call call, size_t index, const at::Tensor& value) = 0;

  /// Replaces the consumer's result by the call's result, and removes the consumer.
  virtual void fuse_consumer(Call call, Call consumer) = 0;

  /// Replaces the call by a layer, applied to its argument `input`.
  virtual void replace(Call call, size_t input, Layer layer) = 0;
};

}  // namespace backend
