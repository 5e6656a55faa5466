// The tensors of a safetensors file, validated by the official crate.
#ifndef HF_SAFETENSORS_H_
#define HF_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hf/error.h"
#include "hf/hf.h"

namespace hf {

struct TensorView {
  std::string name;
  std::string dtype;  // "F32", "F16", "BF16", ...
  std::vector<int64_t> shape;
  size_t begin = 0;  // byte offsets from the start of the file
  size_t end = 0;
};

// `data`: the whole file, mapped. In the order of their offsets. Throws hf::Error: truncated,
// overlapping, a hole, header too large, a size that does not fit shape and dtype, ...
inline std::vector<TensorView> parse_safetensors(const void* data, size_t size) {
  hf_tensors* handle = nullptr;
  char* error = nullptr;
  const hf_status status = hf_safetensors_parse(data, size, &handle, &error);
  internal::Check(status, error);
  const std::unique_ptr<hf_tensors, void (*)(hf_tensors*)> owner(handle, hf_tensors_free);
  std::vector<TensorView> views;
  views.reserve(hf_tensors_count(handle));
  for (size_t i = 0; i < hf_tensors_count(handle); ++i) {
    const hf_tensor tensor = hf_tensors_get(handle, i);
    views.push_back({std::string(tensor.name, tensor.name_length), tensor.dtype,
                     std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank), tensor.begin,
                     tensor.end});
  }
  return views;
}

}  // namespace hf

#endif  // HF_SAFETENSORS_H_
