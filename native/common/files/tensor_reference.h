// References to tensors and storages in a file.
#pragma once

#include <torch/headeronly/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace common {

/// A storage: elements that tensors can share, identified by its key.
struct StorageReference {
  const std::string* key = nullptr;
  c10::ScalarType type{};
  int64_t length = 0;  ///< elements
  int64_t offset = 0;  ///< elements; of a storage view in files of PyTorch before 0.4
};

/// A tensor as an unchecked view of a storage. Offset and strides are in elements.
struct TensorReference {
  StorageReference storage;
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// Size of a storage in bytes. Throws LoadError if it overflows.
size_t byte_size(const StorageReference& storage);

/// True if all elements of the tensor are inside a storage of `length` elements.
bool lies_inside(const TensorReference& tensor, int64_t length);

}  // namespace common
