#include "common/files/tensor_reference.h"

#include <c10/core/ScalarType.h>

#include "common/error.h"

namespace common {

size_t byte_size(const StorageReference& storage) {
  size_t size = 0;
  if (storage.length < 0 || __builtin_mul_overflow(static_cast<size_t>(storage.length),
                                                   c10::elementSize(storage.type), &size)) {
    throw LoadError("holds a storage of an impossible length");
  }
  return size;
}

bool lies_inside(const TensorReference& tensor, int64_t length) {
  int64_t last = 0;
  if (__builtin_add_overflow(tensor.offset, tensor.storage.offset, &last)) return false;
  if (last < 0 || tensor.sizes.size() != tensor.strides.size()) return false;
  bool empty = false;
  int64_t elements = 1;
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    int64_t span = 0;
    if (tensor.sizes[i] < 0 || tensor.strides[i] < 0) return false;
    empty = empty || tensor.sizes[i] == 0;
    // Strides of 0 repeat elements, but the number of elements must not overflow.
    if (!empty && __builtin_mul_overflow(elements, tensor.sizes[i], &elements)) return false;
    if (__builtin_mul_overflow(tensor.sizes[i] - 1, tensor.strides[i], &span)) return false;
    if (!empty && __builtin_add_overflow(last, span, &last)) return false;
  }
  return empty || last < length;
}

}  // namespace common
