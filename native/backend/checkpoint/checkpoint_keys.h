// What the keys of a checkpoint mean beyond their letters.
#pragma once

#include <string>
#include <string_view>

namespace backend {

/// Checkpoints of the TensorFlow days call the weights of a layer norm gamma and beta; the
/// reference renames them as it loads (transformers, conversion_mapping.py, "legacy").
std::string current_name(const std::string& stored_name);

/// Whether a classifier can leave this key of a checkpoint unread: buffers that old releases saved,
/// heads of the pre-training, a pooler that the classifier has no use for.
bool may_stay_unread(std::string_view key, std::string_view base_prefix);

}  // namespace backend
