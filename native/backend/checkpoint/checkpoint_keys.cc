#include "checkpoint/checkpoint_keys.h"

#include <algorithm>
#include <array>
#include <utility>

namespace backend {
namespace {

/// Buffers, at the end of a key. The reference computes them (rotary_emb.inv_freq, position_ids).
constexpr std::array<std::string_view, 3> kBuffers{"position_ids", "token_type_ids",
                                                   "rotary_emb.inv_freq"};

/// At the start of a key, beside the base model or (saved with a wrapper) inside it.
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
    "pooler.",                     // left when the classifier has none
};

bool starts_with_head(std::string_view key) {
  return std::ranges::any_of(kPretrainingHeads,
                             [key](std::string_view head) { return key.starts_with(head); });
}

}  // namespace

std::string current_name(const std::string& stored_name) {
  for (const auto& [old_end, new_end] :
       {std::pair<std::string_view, std::string_view>{"LayerNorm.gamma", "LayerNorm.weight"},
        {"LayerNorm.beta", "LayerNorm.bias"}}) {
    if (stored_name.ends_with(old_end)) {
      return stored_name.substr(0, stored_name.size() - old_end.size()) + std::string(new_end);
    }
  }
  return stored_name;
}

bool may_stay_unread(std::string_view key, std::string_view base_prefix) {
  for (const std::string_view buffer : kBuffers) {
    if (!key.ends_with(buffer)) continue;
    if (key.size() == buffer.size() || key[key.size() - buffer.size() - 1] == '.') return true;
  }
  if (starts_with_head(key)) return true;
  if (base_prefix.empty() || !key.starts_with(base_prefix)) return false;
  key.remove_prefix(base_prefix.size());
  return key.starts_with('.') && starts_with_head(key.substr(1));
}

}  // namespace backend
