#include <string>

#include "common/error.h"
#include "encoder/models/encoder.h"

namespace backend::models {

int64_t rotary_position_limit(const ModelConfig& config) {
  constexpr int64_t kMax = 65'536;
  const int64_t limit = config.positive_integer("max_position_embeddings");
  if (limit > kMax) {
    throw common::LoadError("config.json: max_position_embeddings: expected at most " +
                            std::to_string(kMax) + ", received " + std::to_string(limit));
  }
  return limit;
}

}  // namespace backend::models
