// Queries of labels: vectors with which the spans of a text are compared.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "backend/text_head.h"
#include "checkpoint/weights.h"

namespace backend::heads::gliner2 {

/// gliner2 counts the records of a structure, and has a query for each label and record. Entities
/// are one record: of the recurrent layer over the records, only the first step is needed.
/// Thread-safe.
class CountLayer {
 public:
  virtual ~CountLayer() = default;

  /// States of the labels of one input → queries, float32 [labels, hidden] both.
  virtual at::Tensor operator()(const at::Tensor& labels) const = 0;
};

/// weights: of `count_embed`. Throws LoadError.
std::unique_ptr<CountLayer> make_count_layer(CountLayerType type, const Weights& weights,
                                             int64_t size);

}  // namespace backend::heads::gliner2
