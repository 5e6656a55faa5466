#include "products/attention_choice.h"

#include <algorithm>
#include <vector>

#include "gemm/aligned.h"
#include "products/measured_gain.h"

namespace backend {
namespace {

using gemm::AttentionFormat;

constexpr int64_t kHeadSize = 64;
constexpr int64_t kRowSize = 3 * kHeadSize;
constexpr int kRounds = 3;

/// The tokens of a text, and of a long one.
constexpr int64_t kTokenCounts[] = {32, 256};

constexpr double kLeastGain = 1.1;

/// Of numbers that fill everything; their values do not matter.
class Head {
 public:
  /// To attend in this format, and in float32.
  Head(AttentionFormat format, int64_t tokens)
      : tokens_(tokens),
        scratch_(gemm::make_aligned<float>(
            static_cast<size_t>(gemm::attention_scratch(format, tokens, kHeadSize)))),
        states_(static_cast<size_t>(tokens * kRowSize), 0.75F),
        result_(static_cast<size_t>(tokens * kHeadSize)) {}

  void attend(AttentionFormat format) {
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
    gemm::attend(format, head, scratch_.get());
  }

 private:
  int64_t tokens_;
  gemm::AlignedArray<float> scratch_;
  std::vector<float> states_, result_;
};

bool is_faster(AttentionFormat format) {
  return is_fast(format) && std::ranges::all_of(kTokenCounts, [format](int64_t tokens) {
           Head head(format, tokens);
           return measured_gain(
                      kRounds, [&] { head.attend(AttentionFormat::kFloat32); },
                      [&] { head.attend(format); }) >= kLeastGain;
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
