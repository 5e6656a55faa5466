#include <algorithm>

#include "encoder/models/encoder.h"

namespace backend::models {

int64_t rotary_position_limit(const ModelConfig& config) {
  constexpr int64_t kMax = 65'536;
  return std::min(config.positive_integer("max_position_embeddings"), kMax);
}

}  // namespace backend::models
