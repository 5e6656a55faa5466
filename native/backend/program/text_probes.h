// Texts by which a text model is tried.
#pragma once

#include <functional>
#include <vector>

#include "engine/batch.h"

namespace backend {

/// Three of each of four lengths, side by side, of which one is the longest that a text may have
/// (up to a length that takes long to compute). `tokenize`: a text as the model reads it.
std::vector<engine::Sequence> probes(const std::function<engine::Sequence(engine::Text)>& tokenize);

}  // namespace backend
