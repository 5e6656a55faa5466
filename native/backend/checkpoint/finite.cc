#include "checkpoint/finite.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace backend {
namespace {

/// All bits of the exponent are set in NaN and infinities, and in nothing else.
template <class Bits>
bool has_full_exponent(const std::byte* numbers, size_t count, Bits exponent) {
  // In blocks, through memory of its own: mapped files may hold numbers at any address.
  std::array<Bits, 2048> block;
  for (size_t done = 0; done < count; done += block.size()) {
    const size_t size = std::min(block.size(), count - done);
    std::memcpy(block.data(), numbers + done * sizeof(Bits), size * sizeof(Bits));
    Bits found = 0;
    for (size_t i = 0; i < size; ++i) found |= static_cast<Bits>((block[i] & exponent) == exponent);
    if (found != 0) return true;
  }
  return false;
}

}  // namespace

bool is_finite(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  const auto* numbers = static_cast<const std::byte*>(whole.const_data_ptr());
  const auto count = static_cast<size_t>(whole.numel());
  switch (whole.scalar_type()) {
    case at::kHalf:
      return !has_full_exponent<uint16_t>(numbers, count, 0x7c00);
    case at::kBFloat16:
      return !has_full_exponent<uint16_t>(numbers, count, 0x7f80);
    case at::kDouble:
      return !has_full_exponent<uint64_t>(numbers, count, 0x7ff0000000000000);
    default:
      return !has_full_exponent<uint32_t>(numbers, count, 0x7f800000);
  }
}

}  // namespace backend
