#include "runtime/content_hash.h"

#include <cstdint>
#include <cstring>
#include <random>

namespace backend {
namespace {

using scheduler::SipHash128;

/// Secret of the process.
const SipHash128::Key& key() {
  static const SipHash128::Key secret = [] {
    std::random_device random;
    const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
    return SipHash128::Key{word(), word()};
  }();
  return secret;
}

}  // namespace

ContentHash::ContentHash()
    : lanes_{SipHash128(key()), SipHash128(key()), SipHash128(key()), SipHash128(key())} {}

void ContentHash::add(const void* data, size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  constexpr size_t kWord = sizeof(uint64_t), kStep = kLanes * kWord;
  size_t at = 0;
  for (; at + kStep <= size; at += kStep) {
    std::array<uint64_t, kLanes> words;
    std::memcpy(words.data(), bytes + at, kStep);
    for (size_t lane = 0; lane < kLanes; ++lane) lanes_[lane].add(words[lane]);
  }
  std::array<uint64_t, kLanes> rest{};
  if (at < size) std::memcpy(rest.data(), bytes + at, size - at);
  for (size_t lane = 0; lane < kLanes; ++lane) lanes_[lane].add(rest[lane]);
  lanes_[0].add(size);
}

void ContentHash::add(const at::Tensor& tensor) {
  const at::IntArrayRef shape = tensor.sizes();
  add(shape.data(), shape.size() * sizeof(int64_t));
  lanes_[0].add(static_cast<uint64_t>(tensor.scalar_type()));
  const at::Tensor stored = tensor.contiguous();
  add(stored.const_data_ptr(), stored.nbytes());
}

ContentHash::Hash ContentHash::finish() {
  SipHash128 all(key());
  for (SipHash128& lane : lanes_) {
    for (const uint64_t word : lane.finish()) all.add(word);
  }
  return all.finish();
}

}  // namespace backend
