#include "kernels/attention.h"

#include <algorithm>

#include "attention/head_attention.h"

namespace kernels {
namespace {

/// End of the queries below which a head uses float32 in every format: converting keys and values
/// would take longer than the faster products save (bench/products.cc on a Zen 4). The end and not
/// the number: results do not depend on how many queries are computed together.
constexpr int64_t kFewQueries = 16;

/// Number of key values below which a head uses float32 instead of int8, for the same reason.
constexpr int64_t kFewKeyValues = 3072;

Format format_for(Format wanted, const AttentionHead& head) {
  const bool is_small =
      description_of(wanted).is_integer && head.tokens * head.head_size < kFewKeyValues;
  return head.first_query + head.queries < kFewQueries || is_small ? Format::kFloat32 : wanted;
}

}  // namespace

HeadAttention best_attention(Format format) {
  const FormatKernel best = FormatKernel(format).for_attention();
  const Elementwise* const fitting = elementwise_for_panels(best.kernel->nr);
  if (fitting != nullptr) return {*fitting, best};
  const FormatDescription& description = description_of(format);
  return {kElementwisePortable, {description, *description.kernels.back()}};
}

bool has_fast_attention(Format format) {
  return is_fast(format) &&
         best_attention(format).by().kernel == FormatKernel(format).for_attention().kernel;
}

int64_t attention_scratch(Format format, const AttentionHead& longest) {
  return std::max(best_attention(Format::kFloat32).scratch(longest),
                  best_attention(format).scratch(longest));
}

void attend(Format format, const AttentionHead& head, float* scratch) {
  best_attention(format_for(format, head)).attend(head, scratch);
}

}  // namespace kernels
