// Hash of weights and settings, for models that share equal parts.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "scheduler/siphash.h"

namespace backend {

/// Hash of several buffers with a secret of the process: nobody can construct weights with the hash
/// of other weights. Four independent hashes of every fourth word hide the latency of the rounds:
/// all weights of a model are hashed while it is loaded.
class ContentHash {
 public:
  using Hash = scheduler::SipHash128::Hash;

  ContentHash();

  void add(const void* data, size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  /// Adds values, shape and type.
  void add(const at::Tensor& tensor);

  /// Returns the hash of all added buffers. Call it once.
  Hash finish();

 private:
  static constexpr size_t kLanes = 4;

  std::array<scheduler::SipHash128, kLanes> lanes_;
};

}  // namespace backend
