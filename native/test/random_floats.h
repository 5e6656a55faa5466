// Random test data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

/// Normally distributed values, reproducible by seed.
inline std::vector<float> random_floats(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> floats(size);
  for (float& value : floats) value = normal(random);
  return floats;
}
