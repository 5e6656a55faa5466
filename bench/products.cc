// Measures matrix multiplication in each number format on one thread: GFLOP/s of CPU time, best of
// the rounds, including packing of the left operand, and the ratio to float32. Rounds alternate
// between formats. The sizes are those of a small encoder and of BERT; the weights of all layers
// exceed the caches, as in a model. Then measures attention heads by number of tokens, including
// packing of keys and values. Formats without instructions on this processor are skipped.
//
//   nice -n 5 node scripts/build-native.mjs kernels
//   g++ -O2 -std=c++20 -I native/kernels/include -o build/products bench/products.cc \
//     build/native/native/kernels/libkernels.a -lpthread && build/products
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <vector>

#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "kernels/memory.h"

namespace {

constexpr int kRounds = 15;
constexpr int64_t kWeightBytes = 64 << 20;  // size of the weights in float32

struct Shape {
  int64_t inputs, outputs;
};
constexpr Shape kShapes[] = {{384, 1536}, {1536, 384}, {384, 384}, {768, 3072}, {3072, 768}};
constexpr int64_t kRowCounts[] = {1, 4, 16, 24, 32, 128, 512};

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<kernels::Format> fast_formats(bool (*is_fast)(kernels::Format)) {
  std::vector<kernels::Format> fast;
  for (const auto& each : kernels::formats()) {
    if (each.format == kernels::Format::kFloat32 || is_fast(each.format))
      fast.push_back(each.format);
  }
  return fast;
}

void measure(const std::vector<kernels::Format>& formats, Shape shape) {
  const int64_t size = shape.inputs * shape.outputs;
  const int64_t layers = std::max<int64_t>(2, kWeightBytes / 4 / size);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> weight(static_cast<size_t>(size));
  for (float& value : weight) value = normal(random) * 0.05F;
  std::vector<float> x(static_cast<size_t>(512 * shape.inputs));
  for (float& value : x) value = normal(random);
  std::vector<float> y(static_cast<size_t>(512 * shape.outputs));
  const kernels::StoredWeight stored{weight.data(), kernels::Storage::kFloat32, shape.outputs,
                                     shape.inputs};
  std::vector<std::vector<kernels::Linear>> models(formats.size());
  for (size_t i = 0; i < formats.size(); ++i) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      models[i].emplace_back(formats[i], stored, nullptr);
    }
  }
  for (const int64_t rows : kRowCounts) {
    // Each round multiplies all layers and takes some milliseconds.
    const int64_t count = std::clamp<int64_t>(1'000'000'000 / (size * rows), 2, layers);
    std::vector<double> best(formats.size(), 1e9);
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < formats.size(); ++i) {
        const double start = cpu_seconds();
        for (int64_t layer = 0; layer < count; ++layer) {
          const kernels::Linear& linear = models[i][static_cast<size_t>(layer)];
          linear.multiply(linear.pack_a(x.data(), rows, shape.inputs), {0, shape.outputs}, y.data(),
                          shape.outputs);
        }
        best[i] = std::min(best[i], (cpu_seconds() - start) / static_cast<double>(count));
      }
    }
    std::printf("%4lld x %4lld x %4lld:", static_cast<long long>(rows),
                static_cast<long long>(shape.inputs), static_cast<long long>(shape.outputs));
    for (size_t i = 0; i < formats.size(); ++i) {
      const double flops = 2.0 * static_cast<double>(size * rows);
      std::printf("  %s %5.0f (%.2f)", kernels::description_of(formats[i]).name,
                  flops / best[i] / 1e9, best[0] / best[i]);
    }
    std::printf("\n");
  }
}

/// All heads of a text as columns of one tensor.
void measure_attention(int64_t head_size, int64_t tokens) {
  const std::vector<kernels::Format> all = fast_formats(kernels::has_fast_attention);
  constexpr int64_t kHeads = 12;
  const int64_t hidden = kHeads * head_size, stride = 3 * hidden;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> states(static_cast<size_t>(tokens * stride)), result(states.size());
  for (float& value : states) value = normal(random);
  const auto head_at = [&](int64_t head) -> kernels::AttentionHead {
    const float* const query = states.data() + head * head_size;
    return {.query = query,
            .queries = tokens,
            .query_stride = stride,
            .key = query + hidden,
            .value = query + 2 * hidden,
            .tokens = tokens,
            .key_value_stride = stride,
            .head_size = head_size,
            .scale = 0.125F,
            .window = tokens,
            .bias = nullptr,
            .bias_stride = 0,
            .positions = nullptr,
            .result = result.data() + head * head_size,
            .result_stride = hidden};
  };
  const int64_t count = std::max<int64_t>(1, 20'000'000 / (tokens * (tokens + 32) * head_size));
  std::printf("%lld wide, %4lld tokens:", static_cast<long long>(head_size),
              static_cast<long long>(tokens));
  std::vector<double> best(all.size(), 1e9);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < all.size(); ++i) {
      const kernels::Format format = all[i];
      const auto scratch = kernels::make_aligned<float>(
          static_cast<size_t>(kernels::attention_scratch(format, head_at(0))));
      const double start = cpu_seconds();
      for (int64_t repeat = 0; repeat < count; ++repeat) {
        for (int64_t head = 0; head < kHeads; ++head) {
          kernels::attend(format, head_at(head), scratch.get());
        }
      }
      const double seconds = (cpu_seconds() - start) / static_cast<double>(count * kHeads);
      best[i] = std::min(best[i], seconds);
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    std::printf("  %s %.2f (%.2f)", kernels::description_of(all[i]).name, best[i] * 1e6,
                best[0] / best[i]);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  const std::vector<kernels::Format> formats = fast_formats(kernels::is_fast);
  std::printf("rows x inputs x outputs: GFLOP/s (times float32)\n");
  for (const Shape& shape : kShapes) measure(formats, shape);
  std::printf("attention, a head: microseconds (times float32)\n");
  for (const int64_t head_size : {32, 64}) {
    for (const int64_t tokens : {8, 16, 24, 32, 64, 128, 256, 512}) {
      measure_attention(head_size, tokens);
    }
  }
}
