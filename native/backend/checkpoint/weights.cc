#include "checkpoint/weights.h"

#include <ATen/ops/zeros.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "common/error.h"

namespace backend {
namespace {

/// "a, b and 3 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMaxShown = 5;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMaxShown; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kMaxShown)
    text += " and " + std::to_string(names.size() - kMaxShown) + " more";
  return text;
}

/// Suffixes of buffers, which are computed and not loaded.
constexpr std::array<std::string_view, 3> kBuffers{"position_ids", "token_type_ids",
                                                   "rotary_emb.inv_freq"};

/// Prefixes of pre-training heads, outside the base model or (saved with a wrapper) inside it.
constexpr std::array<std::string_view, 14> kPretrainingHeads{
    "cls.",                        // BERT: predictions, seq_relationship
    "lm_head.",                    // RoBERTa and its like, MPNet
    "vocab_transform.",            // DistilBERT
    "vocab_layer_norm.",           //
    "vocab_projector.",            //
    "generator_predictions.",      // ELECTRA
    "generator_lm_head.",          //
    "discriminator_predictions.",  //
    "predictions.",                // ALBERT
    "sop_classifier.",             //
    "lm_predictions.",             // DeBERTa
    "mask_predictions.",           //
    "decoder.",                    // ModernBERT
    "pooler.",                     // unused by classifiers without a pooler
};

bool starts_with_head(std::string_view key) {
  return std::ranges::any_of(kPretrainingHeads,
                             [key](std::string_view head) { return key.starts_with(head); });
}

/// True for keys that a classifier may ignore: buffers of old releases, pre-training heads, an
/// unused pooler.
bool may_be_unused(std::string_view key, std::string_view base_prefix) {
  for (const std::string_view buffer : kBuffers) {
    if (!key.ends_with(buffer)) continue;
    if (key.size() == buffer.size() || key[key.size() - buffer.size() - 1] == '.') return true;
  }
  if (starts_with_head(key)) return true;
  if (base_prefix.empty() || !key.starts_with(base_prefix)) return false;
  key.remove_prefix(base_prefix.size());
  return key.starts_with('.') && starts_with_head(key.substr(1));
}

/// True if a number is NaN or infinite: only then all bits of the exponent are set.
template <class Bits>
bool has_full_exponent(const std::byte* numbers, size_t count, Bits exponent) {
  // Copies blocks, because numbers in mapped files may be unaligned.
  std::array<Bits, 2048> block;
  for (size_t done = 0; done < count; done += block.size()) {
    const size_t size = std::min(block.size(), count - done);
    std::memcpy(block.data(), numbers + done * sizeof(Bits), size * sizeof(Bits));
    Bits found = 0;
    for (size_t i = 0; i < size; ++i) found |= static_cast<Bits>((block[i] & exponent) == exponent);
    if (found != 0) return true;
  }
  return false;
}

/// True if a floating-point tensor has neither NaN nor infinities. Reads the tensor once.
bool is_finite(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  const auto* numbers = static_cast<const std::byte*>(whole.const_data_ptr());
  const auto count = static_cast<size_t>(whole.numel());
  switch (whole.scalar_type()) {
    case at::kHalf:
      return !has_full_exponent<uint16_t>(numbers, count, 0x7c00);
    case at::kBFloat16:
      return !has_full_exponent<uint16_t>(numbers, count, 0x7f80);
    case at::kDouble:
      return !has_full_exponent<uint64_t>(numbers, count, 0x7ff0000000000000);
    default:
      return !has_full_exponent<uint32_t>(numbers, count, 0x7f800000);
  }
}

}  // namespace

Weights::Weights(std::shared_ptr<const Checkpoint> checkpoint, std::string_view base_prefix,
                 const ComputeTypes& compute_types)
    : checkpoint_(std::move(checkpoint)),
      usage_(std::make_shared<Usage>()),
      compute_types_(compute_types) {
  usage_->base_prefix = base_prefix;
}

Weights Weights::operator/(std::string_view name) const {
  Weights scope = *this;
  scope.prefix_ = full_name(name);
  return scope;
}

Weights Weights::in_float32() const {
  Weights same = *this;
  same.compute_types_ = {};
  return same;
}

std::string Weights::full_name(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
}

const Checkpoint::Entries::value_type* Weights::find(const std::string& key) const {
  const auto& entries = checkpoint_->entries();
  auto it = entries.find(key);
  if (it == entries.end()) it = entries.find(with_other_prefix(key, usage_->base_prefix));
  return it == entries.end() ? nullptr : &*it;
}

at::Tensor Weights::get(std::string_view name, std::initializer_list<int64_t> shape) const {
  return get_as_stored(name, shape)
      .to(at::TensorOptions().dtype(at::kFloat), /*non_blocking=*/false, /*copy=*/true)
      .contiguous();
}

at::Tensor Weights::get_as_stored(std::string_view name,
                                  std::initializer_list<int64_t> shape) const {
  const std::string key = full_name(name);
  const auto* found = find(key);
  if (!found) return placeholder_for(key, shape);
  const auto& [tensor, file, type, _] = found->second;
  const std::string where = file + ": " + found->first;
  if (!tensor.defined() || !tensor.is_floating_point()) {
    throw common::LoadError(where + ": type " + type +
                            " is not supported (F32, F16, BF16 or F64 is)");
  }
  if (tensor.sizes() != at::IntArrayRef(shape)) {
    throw common::LoadError(where + ": has shape " + c10::str(tensor.sizes()) + ", expected " +
                            c10::str(at::IntArrayRef(shape)));
  }
  record(key, tensor);
  if (usage_->used.contains(found->first)) return tensor;
  // A view with stride 0 can have any size.
  if (!claim(shape, tensor.element_size())) {
    throw common::LoadError(where + ": the configuration asks for more weights than the " +
                            std::to_string(checkpoint_->bytes()) + " bytes of the files hold");
  }
  if (!is_finite(tensor)) {
    throw common::LoadError(
        where + ": holds NaN or an infinity: the file is damaged, or training diverged");
  }
  usage_->used.insert(found->first);
  return tensor;
}

/// Throws LoadError if the tensor is missing, has another number of dimensions or another type.
at::Tensor Weights::get_of_rank(std::string_view name, int64_t rank,
                                std::initializer_list<at::ScalarType> types) const {
  const std::string key = full_name(name);
  const auto* found = find(key);
  if (!found) throw common::LoadError(checkpoint_->first_file() + ": " + key + ": is missing");
  const auto& [tensor, file, type, _] = found->second;
  const std::string where = file + ": " + found->first;
  if (!tensor.defined() || std::ranges::find(types, tensor.scalar_type()) == types.end()) {
    throw common::LoadError(where + ": type " + type + " is not supported");
  }
  if (tensor.dim() != rank || tensor.numel() == 0) {
    throw common::LoadError(where + ": has shape " + c10::str(tensor.sizes()) + ", expected " +
                            std::to_string(rank) + " dimensions");
  }
  record(key, tensor);
  usage_->used.insert(found->first);
  return tensor;
}

/// Adds a tensor to the hash of record_to(): the values once, the key at every reading.
void Weights::record(const std::string& key, const at::Tensor& tensor) const {
  if (usage_->content == nullptr) return;
  usage_->content->add(key);
  if (usage_->recorded.insert(key).second) usage_->content->add(tensor);
}

at::Tensor Weights::get_table(std::string_view name) const {
  const at::Tensor table =
      get_of_rank(name, 2, {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kChar});
  if (table.is_floating_point() && !is_finite(table)) {
    throw common::LoadError(full_name(name) + ": holds NaN or an infinity");
  }
  return table;
}

at::Tensor Weights::get_vector(std::string_view name) const {
  const at::Tensor vector =
      get_of_rank(name, 1, {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble});
  if (!is_finite(vector)) {
    throw common::LoadError(full_name(name) + ": holds NaN or an infinity");
  }
  return vector.to(at::kFloat).contiguous();
}

at::Tensor Weights::get_integers(std::string_view name) const {
  return get_of_rank(name, 1, {at::kLong, at::kInt, at::kShort}).to(at::kLong).contiguous();
}

/// Adds the tensor's size to the claimed bytes; false if the files cannot contain that much.
/// Nothing is allocated for a size that only the configuration claims.
bool Weights::claim(at::IntArrayRef shape, size_t element_size) const {
  constexpr size_t kSlack = 1 << 20;  // small files: lets require_all_used() report missing keys
  size_t bytes = element_size;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(size), &bytes)) return false;
  }
  return !__builtin_add_overflow(usage_->claimed, bytes, &usage_->claimed) &&
         usage_->claimed <= checkpoint_->bytes() + kSlack;
}

/// Returns zeros for a missing tensor, so that all missing keys are reported together.
at::Tensor Weights::placeholder_for(const std::string& key, at::IntArrayRef shape) const {
  constexpr size_t kMaxKeys = 64;
  usage_->missing.push_back(key);
  usage_->missing_with_shapes.push_back(key + " " + c10::str(shape));
  if (!claim(shape, sizeof(float)) || usage_->missing.size() >= kMaxKeys) throw_missing();
  return at::zeros(shape, at::kFloat);
}

void Weights::ignore(std::string_view name) const {
  if (const auto* found = find(full_name(name))) usage_->used.insert(found->first);
}

void Weights::ignore_below(std::string_view name) const {
  const std::string prefix = full_name(name) + ".";
  for (const auto& [key, entry] : checkpoint_->entries()) {
    if (key.starts_with(prefix) && !entry.is_of_adapter) usage_->used.insert(key);
  }
}

void Weights::ignore_outside_base() const {
  const auto& entries = checkpoint_->entries();
  const auto is_in_base = [prefix = usage_->base_prefix + "."](const auto& entry) {
    return entry.first.starts_with(prefix);
  };
  if (std::ranges::none_of(entries, is_in_base)) return;  // file of the base model
  for (const auto& entry : entries) {
    // All tensors of an adapter must have a use.
    if (!is_in_base(entry) && !entry.second.is_of_adapter) usage_->used.insert(entry.first);
  }
}

void Weights::require_all_used() const {
  if (!usage_->missing.empty()) throw_missing();
  const std::vector<std::string> unused = unused_keys();
  if (unused.empty()) return;
  throw common::LoadError(checkpoint_->entries().at(unused.front()).file + ": " + listed(unused) +
                          ": unexpected, the model has no such weight");
}

std::vector<std::string> Weights::unused_keys() const {
  std::vector<std::string> unused;
  for (const auto& [key, entry] : checkpoint_->entries()) {
    if (!usage_->used.contains(key) && !may_be_unused(key, usage_->base_prefix))
      unused.push_back(key);
  }
  return unused;
}

void Weights::throw_missing() const {
  const auto& missing = usage_->missing;
  const std::string& first = usage_->missing_with_shapes.front();
  std::string message = checkpoint_->first_file() + ": ";
  if (missing.size() == 1) {
    message += missing.front() + ": is missing, expected a tensor of shape " +
               first.substr(missing.front().size() + 1);
  } else {
    message += listed(usage_->missing_with_shapes) + ": are missing";
  }
  const auto& entries = checkpoint_->entries();
  const auto in_base = [&](const std::string& key) {
    return key.starts_with(usage_->base_prefix + ".");
  };
  const auto wrapped = [](const auto& entry) { return entry.first.starts_with("module."); };
  if (!entries.empty() && std::ranges::all_of(entries, wrapped)) {
    message += "; every key begins with \"module.\": save the model inside the wrapper instead";
  } else if (!usage_->base_prefix.empty() && std::ranges::none_of(missing, in_base)) {
    message += std::string("; the file holds no trained ") + usage_->head + " head";
  } else if (const auto unused = unused_keys(); !unused.empty()) {
    message += "; the file has " + listed(unused) + " instead";
  }
  throw common::LoadError(message);
}

}  // namespace backend
