// Compares our matrix multiplication kernels with LibTorch's at::native::cpublas::brgemm (oneDNN
// microkernels) in bfloat16 and int8, on one thread. Prints GFLOP/s of processor time (medians of
// alternating rounds), the ratio brgemm / ours, whether results of brgemm depend on the number of
// rows in a call, and the time to generate code for a new number of rows: oneDNN generates it for
// each thread and shape.
//
// Both multiply the same panels of 32 outputs and the same rounded rows. brgemm returns int8 sums
// as integers; "scaled" includes the conversion to float32, which our kernels include. The weights
// of all layers exceed the caches.
//
//   L=~/.cache/libtorch-serve/libtorch-2.15.0-linux-x64
//   g++ -O3 -march=native -std=c++20 -I native/kernels/include -I native/kernels -isystem
//   $L/include \
//     -o build/brgemm bench/brgemm.cc build/native/native/kernels/libkernels.a -L $L/lib
//     -ltorch_cpu \ -lc10 -Wl,-rpath,$L/lib -lpthread && build/brgemm
#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

#include "kernels/matmul.h"
#include "matmul/kernel.h"
#include "matmul/pack.h"

namespace {

namespace blas = at::native::cpublas;

constexpr int kRounds = 21;
constexpr int64_t kWeightBytes = 32 << 20;      // of 16-bit numbers
constexpr int64_t kWidth = 32;                  // outputs per panel
constexpr int64_t kBlock = 32;                  // rows per call in one of the variants
constexpr int64_t kFirstNew = 201, kNew = 200;  // numbers of rows without generated code

struct Shape {
  int64_t inputs, outputs;
};
constexpr Shape kShapes[] = {{384, 1536}, {1536, 384}, {768, 3072}};
constexpr int64_t kRowCounts[] = {32, 128, 512};

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double resident_mb() {
  long pages = 0, ignored = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
  std::fclose(file);
  return static_cast<double>(pages) * 4096 / 1e6;
}

std::vector<float> random_floats(int64_t count, float scale) {
  static std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(random) * scale;
  return values;
}

template <class T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One multiplication: packed rows, packed weights, and the result.
struct Product {
  const kernels::PackedA* x;
  const kernels::PackedWeight* weight;
  Shape shape;
  int64_t rows;
};

/// Computes c[rows, outputs], in calls of at most `block` rows per panel.
void brgemm(const Product& product, int64_t first, int64_t rows, int64_t block, void* c) {
  const auto& [x, weight, shape, ignored] = product;
  const bool is_integer = !weight->scales.empty();
  for (int64_t row = first; row < first + rows; row += block) {
    const int64_t count = std::min(block, first + rows - row);
    for (int64_t panel = 0; panel * kWidth < shape.outputs; ++panel) {
      const std::byte* const b = weight->panels.get() + panel * weight->panel_bytes;
      const int64_t at = (row - first) * shape.outputs + panel * kWidth;
      if (is_integer) {
        blas::brgemm(count, kWidth, shape.inputs, x->stride(), kWidth, shape.outputs, false,
                     static_cast<const unsigned char*>(x->values(row)),
                     reinterpret_cast<const signed char*>(b), static_cast<int32_t*>(c) + at);
      } else {
        blas::brgemm(count, kWidth, shape.inputs, x->stride(), kWidth, shape.outputs, false,
                     static_cast<const at::BFloat16*>(x->values(row)),
                     reinterpret_cast<const at::BFloat16*>(b), static_cast<float*>(c) + at);
      }
    }
  }
  blas::brgemm_release();  // our AMX kernels configure the tile registers as well
}

/// Converts int8 sums to float32 in place.
void scale(const Product& product, void* c) {
  const int64_t outputs = product.shape.outputs;
  const float* const scales = product.weight->scales.data();
  const int32_t* const weight_sums = product.weight->sums.data();
  for (int64_t row = 0; row < product.rows; ++row) {
    const kernels::RowScale by = *product.x->scales(row);
    auto* const from = static_cast<int32_t*>(c) + row * outputs;
    for (int64_t j = 0; j < outputs; ++j) {
      const float value =
          static_cast<float>(from[j] - by.zero_point * weight_sums[j]) * (by.scale * scales[j]);
      std::memcpy(from + j, &value, sizeof value);
    }
  }
}

void measure(kernels::Format format, Shape shape) {
  const kernels::FormatKernel by(format);
  const int64_t size = shape.inputs * shape.outputs;
  const int64_t layers = std::max<int64_t>(2, kWeightBytes / 2 / size);
  const auto weights = random_floats(size, 0.05F);
  const auto x = random_floats(512 * shape.inputs, 1);
  const kernels::StoredWeight stored{weights.data(), kernels::Storage::kFloat32, shape.outputs,
                                     shape.inputs};
  std::vector<kernels::Linear> linear;
  std::vector<kernels::PackedWeight> packed;
  for (int64_t layer = 0; layer < layers; ++layer) {
    linear.emplace_back(by, stored, nullptr);
    packed.push_back(by.format->pack_b(stored, *by.kernel));
  }
  std::vector<float> y(static_cast<size_t>(512 * shape.outputs));
  for (const int64_t rows : kRowCounts) {
    const kernels::PackedA rounded = linear[0].pack_a(x.data(), rows, shape.inputs);
    const int64_t count = std::clamp<int64_t>(1'000'000'000 / (size * rows), 2, layers);
    const auto product = [&](int64_t layer) {
      return Product{&rounded, &packed[static_cast<size_t>(layer)], shape, rows};
    };
    const auto seconds = [&](auto run) {
      const double start = cpu_seconds();
      for (int64_t layer = 0; layer < count; ++layer) run(layer);
      return (cpu_seconds() - start) / static_cast<double>(count);
    };
    std::vector<double> ours, all_rows, blocks, scaled, ratios;
    for (int round = -1; round < kRounds; ++round) {
      const double a = seconds([&](int64_t layer) {
        linear[static_cast<size_t>(layer)].multiply(rounded, {0, shape.outputs}, y.data(),
                                                    shape.outputs);
      });
      const double b = seconds([&](int64_t l) { brgemm(product(l), 0, rows, rows, y.data()); });
      const double c = seconds([&](int64_t l) { brgemm(product(l), 0, rows, kBlock, y.data()); });
      const double d = format != kernels::Format::kInt8 ? b : seconds([&](int64_t l) {
        brgemm(product(l), 0, rows, rows, y.data());
        scale(product(l), y.data());
      });
      if (round < 0) continue;  // generates code
      ours.push_back(a), all_rows.push_back(b), blocks.push_back(c), scaled.push_back(d);
      ratios.push_back(a / d);
    }
    const double flops = 2.0 * static_cast<double>(size * rows) / 1e9;
    std::printf(
        "%-8s %3ld x %4ld x %4ld: ours %5.0f  brgemm %5.0f, blocks of %ld rows %5.0f, scaled %5.0f"
        "  brgemm scaled / ours %.2f\n",
        by.format->name, rows, shape.inputs, shape.outputs, flops / median(ours),
        flops / median(all_rows), kBlock, flops / median(blocks), flops / median(scaled),
        median(ratios));
  }
  blas::brgemm_release();

  // Results must not depend on the number of rows in a call.
  const kernels::PackedA rounded = linear[0].pack_a(x.data(), 512, shape.inputs);
  const Product product{&rounded, packed.data(), shape, 512};
  std::vector<float> one(static_cast<size_t>(shape.outputs));
  std::vector<float> all(y.size());
  brgemm(product, 0, 512, 512, all.data());
  int64_t different = 0;
  for (const int64_t rows : {1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 63, 64, 100, 512}) {
    brgemm(product, 0, rows, rows, y.data());
    different +=
        std::memcmp(y.data(), all.data(), static_cast<size_t>(rows * shape.outputs) * 4) != 0;
  }
  for (int64_t row = 0; row < 512; ++row) {
    brgemm(product, row, 1, 1, one.data());
    different += std::memcmp(one.data(), all.data() + row * shape.outputs, one.size() * 4) != 0;
  }
  // Our results without bias and scales: equal integer sums; bfloat16 differs by the order of sums.
  linear[0].multiply(rounded, {0, shape.outputs}, y.data(), shape.outputs);
  auto values = all;
  if (format == kernels::Format::kInt8) scale(product, values.data());
  float apart = 0;
  for (size_t i = 0; i < y.size(); ++i) apart = std::max(apart, std::abs(y[i] - values[i]));
  std::printf("%-8s %ld x %ld: %ld of 527 calls differ from the call of 512 rows; ours: %g apart\n",
              by.format->name, shape.inputs, shape.outputs, different, apart);

  const double before = resident_mb();
  double generation = 0;
  for (int64_t rows = kFirstNew; rows < kFirstNew + kNew; ++rows) {
    const double start = cpu_seconds();
    brgemm(product, 0, rows, rows, y.data());
    const double first = cpu_seconds();
    brgemm(product, 0, rows, rows, y.data());
    generation += (first - start) - (cpu_seconds() - first);
  }
  std::printf("%-8s %ld x %ld: code for another number of rows: %.0f KB, %.2f ms\n",
              by.format->name, shape.inputs, shape.outputs, (resident_mb() - before) * 1e3 / kNew,
              generation * 1e3 / kNew);
  blas::brgemm_release();
}

}  // namespace

int main() {
  std::printf("LibTorch packs bfloat16: %d, int8: %d\n", blas::could_pack(at::kBFloat16),
              blas::could_pack(at::kChar));
  for (const kernels::Format format : {kernels::Format::kBFloat16, kernels::Format::kInt8}) {
    for (const Shape& shape : kShapes) measure(format, shape);
  }
}
