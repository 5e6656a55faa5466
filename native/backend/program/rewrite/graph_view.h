// What rewriting sees of a graph, and does to it.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace backend {

/// y of x, with constants of its own. Any number of threads.
using Layer = std::function<at::Tensor(const at::Tensor& x)>;

/// The calls of operators in a graph: of a frozen TorchScript module, or of a plan of torch.export.
class GraphView {
 public:
  /// The place of a call among all of them, in the order in which they run.
  using Call = size_t;
  /// Nothing in the place of an argument that is not constant.
  using Arguments = std::vector<std::optional<c10::IValue>>;

  GraphView() = default;
  virtual ~GraphView() = default;
  GraphView(const GraphView&) = delete;
  GraphView& operator=(const GraphView&) = delete;

  virtual size_t size() const = 0;

  /// "aten::linear"; empty: no operator of ATen, or one that has been rewritten.
  virtual std::string_view name(Call call) const = 0;

  /// In the order of the operator's schema.
  virtual Arguments arguments(Call call) const = 0;

  /// The call that alone reads the one result of this one, as its first argument, and of whose own
  /// results none but the first is read.
  virtual std::optional<Call> reader(Call call) const = 0;

  virtual void set_argument(Call call, size_t index, const at::Tensor& value) = 0;

  /// The call gives what its reader gave, which goes.
  virtual void take_over(Call call, Call reader) = 0;

  /// Puts a layer in the place of the call, over its argument `input`.
  virtual void replace(Call call, size_t input, Layer layer) = 0;
};

}  // namespace backend
