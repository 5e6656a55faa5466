#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "backend/text_head.h"
#include "checkpoint/weights.h"

namespace backend::heads::gliclass {

/// Vectors of the texts and labels of a batch, in packed order.
struct TextsAndLabels {
  at::Tensor texts;                   ///< float32 [text rows, size]
  std::vector<int64_t> text_rows;     ///< [sequences], 1, or the number of the text's tokens
  at::Tensor labels;                  ///< float32 [labels, size]
  std::vector<int64_t> label_counts;  ///< [sequences]
};

/// Compares the vector of each label with its text. Layers compute in float32. Thread-safe.
class Scorer {
 public:
  virtual ~Scorer() = default;
  /// → float32 [labels, 1]
  virtual at::Tensor operator()(const TextsAndLabels& input) const = 0;
};

/// Scalar product of two vectors, which does not depend on the batch.
float dot(const float* a, const float* b, int64_t size);

/// The vector of its text for each label; [labels, size]. Texts have one row each.
at::Tensor texts_of_labels(const TextsAndLabels& input);

// `weights`: those of the scorer. size: of the vectors. All throw LoadError.
std::unique_ptr<Scorer> make_dot_scorer();
std::unique_ptr<Scorer> make_weighted_dot_scorer(const Weights& weights, int64_t size);
std::unique_ptr<Scorer> make_mlp_scorer(const Weights& weights, int64_t size);
std::unique_ptr<Scorer> make_hopfield_scorer(const Weights& weights, int64_t size);
std::unique_ptr<Scorer> make_cross_attention_scorer(const Weights& weights, int64_t size,
                                                    const GliclassHead& options);

}  // namespace backend::heads::gliclass
