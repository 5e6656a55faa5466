#include "program/alike.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace backend {
namespace {

std::vector<double> softmax(const std::vector<float>& logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> exponentials;
  exponentials.reserve(logits.size());
  double sum = 0;
  for (const float logit : logits) sum += exponentials.emplace_back(std::exp(logit - highest));
  for (double& exponential : exponentials) exponential /= sum;
  return exponentials;
}

bool all_finite(const std::vector<float>& logits) {
  return std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
}

template <typename Values>
bool close(const Values& a, const Values& b) {
  constexpr double kTolerance = 1e-5;
  return std::ranges::equal(
      a, b, [](double left, double right) { return std::abs(left - right) <= kTolerance; });
}

}  // namespace

bool alike_in_probability(const engine::Output& left, const engine::Output& right) {
  const std::vector<float>&a = left.values, &b = right.values;
  if (a.size() != b.size() || a.empty()) return false;
  if (!all_finite(a) || !all_finite(b)) return all_finite(a) == all_finite(b);  // an error anyway
  const auto [lowest, highest] = std::ranges::minmax(a);
  if (lowest >= 0 && highest <= 1 && !close(a, b)) return false;
  return close(softmax(a), softmax(b));
}

bool alike_in_logits(const engine::Output& left, const engine::Output& right) {
  const std::vector<float>&a = left.values, &b = right.values;
  constexpr float kTolerance = 2e-5F;
  float scale = 1.0F;
  for (const float logit : a) scale = std::max(scale, std::abs(logit));
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= kTolerance * scale)) return false;  // also when one is NaN
  }
  return true;
}

}  // namespace backend
