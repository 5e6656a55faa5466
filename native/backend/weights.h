// A checkpoint as the modules read it: by scoped names, each with the shape it must have.
#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "checkpoint.h"

namespace backend {

/// A view into a checkpoint under a prefix. Copies share what has been read, so that at the end
/// the keys that nothing read can be named.
class Weights {
 public:
  explicit Weights(std::shared_ptr<const Checkpoint> checkpoint);

  /// The scope below: (weights / "encoder" / "layer.0").get("weight", …).
  Weights operator/(std::string_view name) const;

  /// float32, a copy of its own. Throws LoadError naming the key: missing, wrong shape or type.
  at::Tensor get(std::string_view name, std::initializer_list<int64_t> shape) const;

  /// In the stored floating-point type, still in the mapped file: for tables read row by row.
  at::Tensor get_as_stored(std::string_view name, std::initializer_list<int64_t> shape) const;

  /// A key that older versions of the library wrote and no model reads.
  void ignore(std::string_view name) const;

  /// Throws LoadError when the checkpoint holds keys that nothing read or ignored.
  void require_all_used() const;

 private:
  std::string full_name(std::string_view name) const;

  std::shared_ptr<const Checkpoint> checkpoint_;
  std::shared_ptr<std::set<std::string, std::less<>>> used_;
  std::string prefix_;
};

}  // namespace backend
