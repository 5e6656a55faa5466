#include "kernels/attention.h"

#include <algorithm>

#include "attention/head_attention.h"

namespace kernels {
namespace {

/// Number of queries below which a head uses float32 in every format: converting keys and values
/// would take longer than the faster products save (bench/products.cc on a Zen 4).
constexpr int64_t kFewQueries = 16;

/// True if the panels that the elementwise functions pack have the size that the kernel reads.
bool has_same_nr(const FormatKernel& by) { return 2 * best_elementwise().lanes == by.kernel->nr; }

}  // namespace

HeadAttention best_attention(Format format) {
  const FormatDescription& wanted = description_of(format);
  if (!wanted.supports_attention) return best_attention(Format::kFloat32);
  const FormatKernel best(format);
  if (has_same_nr(best)) return {best_elementwise(), best};
  return {kElementwisePortable, {wanted, *wanted.kernels.back()}};
}

bool has_fast_attention(Format format) {
  return description_of(format).supports_attention && is_fast(format) && has_same_nr(format);
}

int64_t attention_scratch(Format format, const AttentionHead& longest) {
  return std::max(best_attention(Format::kFloat32).scratch(longest),
                  best_attention(format).scratch(longest));
}

void attend(Format format, const AttentionHead& head, float* scratch) {
  best_attention(head.queries < kFewQueries ? Format::kFloat32 : format).attend(head, scratch);
}

}  // namespace kernels
