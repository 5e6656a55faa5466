#include "exported/scalar_types.h"

#include <array>

namespace backend {

c10::ScalarType scalar_type_of(int64_t number) {
  using enum c10::ScalarType;
  constexpr std::array kTypes{Byte,          Char,  Short,   Int,         Long,
                              Half,          Float, Double,  ComplexHalf, ComplexFloat,
                              ComplexDouble, Bool,  BFloat16};
  return kTypes.at(static_cast<size_t>(number - 1));
}

c10::MemoryFormat memory_format_of(int64_t number) {
  using enum c10::MemoryFormat;
  constexpr std::array kFormats{Contiguous, ChannelsLast, ChannelsLast3d, Preserve};
  return kFormats.at(static_cast<size_t>(number - 1));
}

}  // namespace backend
