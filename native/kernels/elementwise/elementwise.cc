#include "elementwise/elementwise.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "kernels/cpu.h"
#include "matmul/tiling.h"

namespace kernels {

namespace {

#if defined(__x86_64__)
constexpr const Elementwise* kAll[] = {&kElementwiseAvx512, &kElementwiseAvx2,
                                       &kElementwisePortable};
#else
constexpr const Elementwise* kAll[] = {&kElementwisePortable};
#endif

}  // namespace

const Elementwise& best_elementwise() {
  static const Elementwise& best = **std::ranges::find_if(kAll, is_usable, &Elementwise::needs);
  return best;
}

const Elementwise* elementwise_for_panels(int64_t nr) {
  const auto* const found = std::ranges::find_if(kAll, [nr](const Elementwise* each) {
    return 2 * int64_t{each->lanes} == nr && is_usable(each->needs);
  });
  return found != std::end(kAll) ? *found : nullptr;
}

EpilogueFunction best_epilogue(Epilogue epilogue, int64_t nr) {
  const Elementwise& best = best_elementwise();
  const Elementwise& fitting = nr % best.lanes == 0 ? best : kElementwisePortable;
  switch (epilogue) {
    case Epilogue::kStore:
      return nullptr;
    case Epilogue::kGelu:
      return fitting.gelu;
    case Epilogue::kGeluTanh:
      return fitting.gelu_tanh;
    case Epilogue::kSilu:
      return fitting.silu;
    case Epilogue::kAdd:
      return fitting.add;
    case Epilogue::kMultiply:
      return fitting.multiply;
  }
  return nullptr;
}

void add_in_vectors(float* to, const float* from, int64_t count) {
  const int64_t whole = round_up(count, kMaxVector);
  best_elementwise().add(from, 1, whole, to, whole);
}

void maximum_in_vectors(float* to, const float* from, int64_t count) {
  const int64_t whole = round_up(count, kMaxVector);
  best_elementwise().maximum(from, 1, whole, to, whole);
}

void normalize(const LayerNormRows& rows) { best_elementwise().normalize(rows); }

void normalize_rms(const RmsNormRows& rows) { best_elementwise().normalize_rms(rows); }

void rotate(const RotatedHeads& heads) { best_elementwise().rotate(heads); }

void activate(Epilogue activation, float* values, int64_t count) {
  const EpilogueFunction function = best_epilogue(activation, kMaxVector);
  const int64_t whole = count / kMaxVector * kMaxVector, rest = count - whole;
  if (whole > 0) function(values, 1, whole, values, whole);
  if (rest == 0) return;
  std::array<float, kMaxVector> last{};
  std::copy_n(values + whole, rest, last.begin());
  function(last.data(), 1, kMaxVector, last.data(), kMaxVector);
  std::copy_n(last.begin(), rest, values + whole);
}

}  // namespace kernels
