// Whether two answers to one input are the same, but for the last digits of a sum.
#pragma once

#include "engine/batch.h"

namespace backend {

/// Of a signal model, whose outputs may be anything: in probability, as how far apart logits may be
/// depends on their size. Outputs in [0, 1] may be probabilities already, and are compared as they
/// are too.
bool alike_in_probability(const engine::Output& a, const engine::Output& b);

/// Of a text model, [num_labels] each: in proportion to the largest of them.
bool alike_in_logits(const engine::Output& a, const engine::Output& b);

}  // namespace backend
