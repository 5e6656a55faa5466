#include "encoder/heads/transform.h"

namespace backend::heads {
namespace {

int64_t size_of(const ModelConfig& config, const char* key, int64_t hidden_size) {
  if (key == nullptr || config.count_or(key, 0) == 0) return hidden_size;
  return config.positive_integer(key);
}

nn::Activation activation_of(const ModelConfig& config, const TransformKeys& keys) {
  const char* const key = keys.activation_key;
  return nn::activation_by_name(key ? config.string_or(key, keys.activation) : keys.activation,
                                key ? key : "");
}

}  // namespace

nn::Bias bias_of(const ModelConfig& config, const char* key, bool otherwise) {
  const bool has = key == nullptr || config.boolean_or(key, otherwise);
  return has ? nn::Bias::kYes : nn::Bias::kNo;
}

Transform::Transform(const ModelConfig& config, const Weights& weights, const TransformKeys& keys,
                     int64_t hidden_size)
    : size_(size_of(config, keys.size_key, hidden_size)),
      dense_(weights / keys.dense, hidden_size, size_, bias_of(config, keys.dense_bias_key, false)),
      activation_(activation_of(config, keys)) {
  if (keys.norm == nullptr) return;
  const double epsilon =
      keys.epsilon_key ? config.epsilon_or(keys.epsilon_key, keys.epsilon) : keys.epsilon;
  norm_.emplace(weights / keys.norm, size_, epsilon, bias_of(config, keys.norm_bias_key, false));
}

std::optional<Transform> make_transform(const ModelConfig& config, const Weights& weights,
                                        const TransformKeys& keys, int64_t hidden_size) {
  if (keys.dense == nullptr) return std::nullopt;
  return Transform(config, weights, keys, hidden_size);
}

at::Tensor Transform::operator()(const at::Tensor& hidden) const {
  const at::Tensor inner = dense_(hidden, activation_);
  return norm_ ? (*norm_)(inner) : inner;
}

}  // namespace backend::heads
