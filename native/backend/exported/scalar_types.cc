#include "exported/scalar_types.h"

#include <array>
#include <string>

namespace backend {
namespace {

/// The one at the number's place; the first number is 1.
template <typename Type, size_t count>
Type at_place(const std::array<Type, count>& types, const Field& number, const char* what) {
  const int64_t value = number.integer();
  if (value < 1 || value > static_cast<int64_t>(count)) {
    number.refuse("unknown " + std::string(what) + " " + std::to_string(value));
  }
  return types.at(static_cast<size_t>(value - 1));
}

}  // namespace

size_t rank_of(const Field& sizes) {
  constexpr size_t kMost = 64;
  if (sizes.array_size() > kMost) sizes.refuse("expected 64 dimensions or fewer");
  return sizes.size();
}

c10::ScalarType scalar_type_of(const Field& number) {
  using enum c10::ScalarType;
  return at_place(std::array{Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf,
                             ComplexFloat, ComplexDouble, Bool, BFloat16},
                  number, "type of numbers");
}

c10::MemoryFormat memory_format_of(const Field& number) {
  using enum c10::MemoryFormat;
  return at_place(std::array{Contiguous, ChannelsLast, ChannelsLast3d, Preserve}, number,
                  "memory format");
}

c10::Layout layout_of(const Field& number) {
  using enum c10::Layout;
  const c10::Layout layout =
      at_place(std::array{Sparse, SparseCsr, SparseCsc, SparseBsr, SparseBsc, Mkldnn, Strided},
               number, "layout");
  // Operators of LibTorch end the process for others.
  if (layout != Strided) number.refuse("expected a dense layout");
  return layout;
}

}  // namespace backend
