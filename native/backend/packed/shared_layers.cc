#include "packed/shared_layers.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include "runtime/content_hash.h"

namespace backend {
namespace {

using Key = std::tuple<ContentHash::Hash, int64_t, int64_t, at::ScalarType, Dtype>;

Key key_of(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype) {
  const at::Tensor stored = weight.contiguous();
  ContentHash hash;
  hash.add(stored.const_data_ptr(), stored.nbytes());
  if (bias.defined()) {
    const at::Tensor values = bias.contiguous();
    hash.add(values.const_data_ptr(), values.nbytes());
  }
  return {hash.finish(), weight.size(0), weight.size(1), weight.scalar_type(), dtype};
}

/// Layers in use. Models hold them.
class SharedLayers {
 public:
  std::shared_ptr<const PackedLinear> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto it = layers_.find(key);
    return it != layers_.end() ? it->second.lock() : nullptr;
  }

  /// Adds a layer, unless another thread has added the same one.
  std::shared_ptr<const PackedLinear> add(const Key& key,
                                          std::shared_ptr<const PackedLinear> layer) {
    const std::lock_guard lock(mutex_);
    std::erase_if(layers_, [](const auto& entry) { return entry.second.expired(); });
    auto& slot = layers_[key];
    if (auto other = slot.lock()) return other;
    slot = layer;
    return layer;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const PackedLinear>> layers_;
};

SharedLayers& shared_layers() {
  static auto* const layers = new SharedLayers;  // models of other threads outlive static objects
  return *layers;
}

}  // namespace

std::shared_ptr<const PackedLinear> share_layer(const at::Tensor& weight, const at::Tensor& bias,
                                                Dtype dtype) {
  const Key key = key_of(weight, bias, dtype);
  if (auto shared = shared_layers().find(key)) return shared;
  return shared_layers().add(key, std::make_shared<const PackedLinear>(weight, bias, dtype));
}

}  // namespace backend
