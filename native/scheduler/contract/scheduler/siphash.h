// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012; github.com/veorq/SipHash) for
// messages of whole 64-bit words. Finding two messages with equal hashes requires the key.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace scheduler {

class SipHash128 {
 public:
  using Key = std::array<uint64_t, 2>;
  using Hash = std::array<uint64_t, 2>;

  explicit SipHash128(const Key& key)
      : v_{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee,
           key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573} {}

  void add(uint64_t word) {
    v_[3] ^= word;
    round();
    round();
    v_[0] ^= word;
    bytes_ += sizeof(word);
  }

  /// Returns the hash of all added words. Call it once.
  Hash finish() {
    add(bytes_ << 56);
    v_[2] ^= 0xee;
    const uint64_t low = last_rounds();
    v_[1] ^= 0xdd;
    return {low, last_rounds()};
  }

 private:
  void round() {
    v_[0] += v_[1];
    v_[2] += v_[3];
    v_[1] = std::rotl(v_[1], 13) ^ v_[0];
    v_[3] = std::rotl(v_[3], 16) ^ v_[2];
    v_[0] = std::rotl(v_[0], 32) + v_[3];
    v_[2] += v_[1];
    v_[1] = std::rotl(v_[1], 17) ^ v_[2];
    v_[3] = std::rotl(v_[3], 21) ^ v_[0];
    v_[2] = std::rotl(v_[2], 32);
  }

  uint64_t last_rounds() {
    for (int i = 0; i < 4; ++i) round();
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

  std::array<uint64_t, 4> v_;
  uint64_t bytes_ = 0;
};

}  // namespace scheduler
