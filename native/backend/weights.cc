#include "weights.h"

#include "backend/model_config.h"

namespace backend {
namespace {

std::string shown(at::IntArrayRef shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace

Weights::Weights(std::shared_ptr<const Checkpoint> checkpoint)
    : checkpoint_(std::move(checkpoint)),
      used_(std::make_shared<std::set<std::string, std::less<>>>()) {}

Weights Weights::operator/(std::string_view name) const {
  Weights scope = *this;
  scope.prefix_ = full_name(name);
  return scope;
}

std::string Weights::full_name(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
}

at::Tensor Weights::get(std::string_view name, std::initializer_list<int64_t> shape) const {
  return get_as_stored(name, shape)
      .to(at::TensorOptions().dtype(at::kFloat), /*non_blocking=*/false, /*copy=*/true)
      .contiguous();
}

at::Tensor Weights::get_as_stored(std::string_view name,
                                  std::initializer_list<int64_t> shape) const {
  const std::string key = full_name(name);
  const auto it = checkpoint_->entries().find(key);
  if (it == checkpoint_->entries().end()) {
    const std::string file =
        checkpoint_->entries().empty() ? "weights" : checkpoint_->entries().begin()->second.file;
    throw LoadError(file + ": " + key + ": is missing, expected a tensor of shape " + shown(shape));
  }
  const auto& [tensor, file] = it->second;
  if (tensor.sizes() != at::IntArrayRef(shape)) {
    throw LoadError(file + ": " + key + ": has shape " + shown(tensor.sizes()) + ", expected " +
                    shown(shape));
  }
  if (!tensor.is_floating_point()) {
    throw LoadError(file + ": " + key + ": is not floating point");
  }
  used_->insert(key);
  return tensor;
}

void Weights::ignore(std::string_view name) const { used_->insert(full_name(name)); }

void Weights::require_all_used() const {
  constexpr size_t kShown = 5;
  size_t unexpected = 0;
  std::string names, file;
  for (const auto& [key, entry] : checkpoint_->entries()) {
    if (used_->contains(key)) continue;
    if (unexpected++ < kShown) names += (names.empty() ? "" : ", ") + key;
    if (file.empty()) file = entry.file;
  }
  if (unexpected == 0) return;
  if (unexpected > kShown) names += " and " + std::to_string(unexpected - kShown) + " more";
  throw LoadError(file + ": " + names + ": unexpected, the model has no such weight");
}

}  // namespace backend
