#include "tensors.h"

#include "targets.h"

namespace fuzz {

void require_inside(const at::Tensor& tensor) {
  constexpr int64_t kRead = 100'000;
  require(tensor.dim() == std::ssize(tensor.strides()), "a stride for each dimension");
  if (tensor.numel() == 0) return;
  require(tensor.numel() > 0, "a count of elements");
  __extension__ using Wide = __int128;
  Wide last = tensor.storage_offset();
  require(last >= 0, "an offset inside the storage");
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    require(tensor.size(i) > 0 && tensor.stride(i) >= 0, "sizes and strides");
    last += static_cast<Wide>(tensor.size(i) - 1) * tensor.stride(i);
  }
  const Wide end = (last + 1) * static_cast<Wide>(tensor.element_size());
  require(end <= static_cast<Wide>(tensor.storage().nbytes()), "elements inside the storage");
  if (tensor.numel() > kRead) return;
  const at::Tensor copy = tensor.to(at::kDouble).contiguous();
  const auto* values = copy.const_data_ptr<double>();
  double sum = 0;
  for (int64_t i = 0; i < copy.numel(); ++i) sum += values[i];
  require(sum == sum || sum != sum, "read");
}

}  // namespace fuzz
