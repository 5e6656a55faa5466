#include "packed/shared_layers.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <tuple>

#include "scheduler/siphash.h"

namespace backend {
namespace {

using scheduler::SipHash128;

/// Hash of several buffers. Four independent hashes of every fourth word hide the latency of the
/// rounds: all weights of a model are hashed while it is loaded.
class ContentHash {
 public:
  void add(const void* data, size_t size) {
    const auto* const bytes = static_cast<const std::byte*>(data);
    constexpr size_t kWord = sizeof(uint64_t), kStep = kLanes * kWord;
    size_t at = 0;
    for (; at + kStep <= size; at += kStep) {
      std::array<uint64_t, kLanes> words;
      std::memcpy(words.data(), bytes + at, kStep);
      for (size_t lane = 0; lane < kLanes; ++lane) lanes_[lane].add(words[lane]);
    }
    std::array<uint64_t, kLanes> rest{};
    std::memcpy(rest.data(), bytes + at, size - at);
    for (size_t lane = 0; lane < kLanes; ++lane) lanes_[lane].add(rest[lane]);
    lanes_[0].add(size);
  }

  SipHash128::Hash finish() {
    SipHash128 all(key());
    for (SipHash128& lane : lanes_) {
      for (const uint64_t word : lane.finish()) all.add(word);
    }
    return all.finish();
  }

 private:
  static constexpr size_t kLanes = 4;

  /// Secret of the process: nobody can construct weights with the hash of other weights.
  static const SipHash128::Key& key() {
    static const SipHash128::Key secret = [] {
      std::random_device random;
      const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
      return SipHash128::Key{word(), word()};
    }();
    return secret;
  }

  std::array<SipHash128, kLanes> lanes_{SipHash128(key()), SipHash128(key()), SipHash128(key()),
                                        SipHash128(key())};
};

using Key = std::tuple<SipHash128::Hash, int64_t, int64_t, at::ScalarType, Dtype>;

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
