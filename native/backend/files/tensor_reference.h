// A tensor as files describe it: a view of a storage.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace backend {

/// The elements that tensors share: where they lie is known by the key.
struct StorageReference {
  const std::string* key = nullptr;
  c10::ScalarType type{};
  int64_t length = 0;  ///< elements
  int64_t offset = 0;  ///< of a view of a storage, which releases before 0.4 wrote; in elements
};

/// A tensor as a view of a storage, nothing of it checked against it. Offset and strides in
/// elements.
struct TensorReference {
  StorageReference storage;
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// Bytes of a storage. Throws LoadError when no file could hold them.
size_t byte_size(const StorageReference& storage);

/// Whether every element of the tensor lies inside a storage of `length` elements.
bool lies_inside(const TensorReference& tensor, int64_t length);

}  // namespace backend
