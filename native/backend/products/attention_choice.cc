#include "products/attention_choice.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "gemm/aligned.h"

namespace backend {
namespace {

using gemm::AttentionFormat;

constexpr int64_t kHeadSize = 64;
constexpr int64_t kRowSize = 3 * kHeadSize;
constexpr int kRounds = 4;

/// The tokens of a text, and of a long one.
constexpr int64_t kTokenCounts[] = {32, 256};

constexpr double kLeastGain = 1.1;

/// Of numbers that fill everything; their values do not matter.
class Head {
 public:
  explicit Head(int64_t tokens)
      : tokens_(tokens),
        states_(static_cast<size_t>(tokens * kRowSize), 0.75F),
        result_(static_cast<size_t>(tokens * kHeadSize)) {}

  /// The best of some rounds.
  double seconds(AttentionFormat format) {
    const int64_t size = gemm::attention_scratch(format, tokens_, kHeadSize);
    const auto scratch = gemm::make_aligned<float>(static_cast<size_t>(size));
    const gemm::AttentionHead head{.query = states_.data(),
                                   .queries = tokens_,
                                   .query_stride = kRowSize,
                                   .key = states_.data() + kHeadSize,
                                   .value = states_.data() + 2 * kHeadSize,
                                   .tokens = tokens_,
                                   .key_value_stride = kRowSize,
                                   .head_size = kHeadSize,
                                   .scale = 0.125F,
                                   .reach = tokens_,
                                   .bias = nullptr,
                                   .bias_stride = 0,
                                   .result = result_.data(),
                                   .result_stride = kHeadSize};
    std::chrono::duration<double> best = std::chrono::hours(1);
    for (int round = 0; round < kRounds; ++round) {
      const auto start = std::chrono::steady_clock::now();
      gemm::attend(format, head, scratch.get());
      best =
          std::min<std::chrono::duration<double>>(best, std::chrono::steady_clock::now() - start);
    }
    return best.count();
  }

 private:
  int64_t tokens_;
  std::vector<float> states_, result_;
};

bool is_faster(AttentionFormat format) {
  return is_fast(format) && std::ranges::all_of(kTokenCounts, [format](int64_t tokens) {
           Head head(tokens);
           return head.seconds(AttentionFormat::kFloat32) >= kLeastGain * head.seconds(format);
         });
}

template <AttentionFormat kFormat>
AttentionFormat chosen() {
  static const bool is_chosen = is_faster(kFormat);
  return is_chosen ? kFormat : AttentionFormat::kFloat32;
}

}  // namespace

gemm::AttentionFormat attention_format(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32:
      return chosen<AttentionFormat::kBFloat16x6>();
    case Dtype::kBFloat16x3:
      return chosen<AttentionFormat::kBFloat16x3>();
    case Dtype::kBFloat16:
      return chosen<AttentionFormat::kBFloat16>();
    case Dtype::kInt8:
      break;
  }
  return AttentionFormat::kFloat32;
}

}  // namespace backend
