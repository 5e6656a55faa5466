#include "program/report.h"

#include <algorithm>
#include <cctype>

#include "program/signature.h"

namespace backend {
namespace {

/// PyTorch's own names.
std::string name_of(c10::ScalarType type) {
  using enum c10::ScalarType;
  switch (type) {
    case Float:
      return "float32";
    case Double:
      return "float64";
    case Half:
      return "float16";
    case Long:
      return "int64";
    case Int:
      return "int32";
    case Short:
      return "int16";
    case Char:
      return "int8";
    case Byte:
      return "uint8";
    default: {
      std::string name = c10::toString(type);
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      return name;
    }
  }
}

}  // namespace

ValueReport described(const ProgramInput& input) {
  ValueReport report{.name = input.name, .type = {}, .sizes = {}};
  if (input.type) report.type = name_of(*input.type);
  if (!input.sizes) return report;
  for (const Extent& extent : *input.sizes) {
    report.sizes += (report.sizes.empty() ? "" : ", ") + words_for(extent);
  }
  report.sizes = "[" + report.sizes + "]";
  return report;
}

void WeightCount::add(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return;
  if (!seen_.insert(tensor.const_data_ptr()).second) return;
  numbers_ += static_cast<uint64_t>(tensor.numel());
  bytes_ += tensor.nbytes();
  types_.insert(name_of(tensor.scalar_type()));
}

void WeightCount::write_to(ProgramReport& report) const {
  report.weight_count = numbers_;
  report.weight_bytes = bytes_;
  report.weight_types.assign(types_.begin(), types_.end());
}

}  // namespace backend
