// GLiNER2: entities of a text for the labels of a request, and logits of classes.
// Source: gliner2, models/span/model.py (SpanExtractorModel), models/boundary/model.py (classifier
// of BoundaryExtractorModel), inference/runtime.py (_compute_direct_span_logits_batched).
#include <ATen/TensorOperators.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "encoder/heads/gliner/scorer.h"
#include "encoder/heads/gliner2/count_layer.h"
#include "encoder/heads/gliner2/mlp.h"
#include "encoder/heads/head.h"
#include "encoder/heads/marker_rows.h"

namespace backend::heads {
namespace {

using gliner2::CountLayer;
using gliner2::Mlp;

constexpr int64_t kCounts = 20;  // of records: 0 to 19

/// Modules of boundary models for other tasks than classification.
constexpr const char* kOtherTasks[] = {"boundary_head", "record_decoder", "relation_scorer"};

/// Spans of the words with a label and a score each.
class EntityFinder {
 public:
  EntityFinder(const Gliner2Head& options, CountLayerType counting, const Weights& weights,
               int64_t size)
      : count_(weights / "count_pred", size, {{"0", 2 * size}, {"2", kCounts}}),
        queries_(gliner2::make_count_layer(counting, weights / "count_embed", size)),
        scorer_(gliner::make_marker_scorer(weights,
                                           {.mode = SpanMode::kMarkerV0,
                                            .hidden_size = size,
                                            .max_width = options.max_width,
                                            .lstm_layers = 0},
                                           "span_rep.span_rep_layer")) {}

  /// hidden: float32 [tokens, size]. first: row of the sequence's first token.
  scheduler::Output operator()(const at::Tensor& hidden, int64_t first,
                               const EntityRows& rows) const {
    const at::Tensor task = hidden.narrow(0, first + rows.task, 1);
    // A count of 0 means that there are no entities, whatever the scores.
    if (at::argmax(count_(task)).item<int64_t>() == 0) return {.values = {}, .rows = 0};
    const auto states = [&](std::vector<int64_t> of_sequence) {
      for (int64_t& row : of_sequence) row += first;
      return gather_rows(hidden, of_sequence);
    };
    // A score equal to the threshold is enough; the scorer excludes it.
    const float below = std::nextafter(rows.threshold, -1.0F);
    return gliner::to_output(
        (*scorer_)(states(rows.words), (*queries_)(states(rows.labels)), below));
  }

 private:
  Mlp count_;
  std::unique_ptr<CountLayer> queries_;
  std::unique_ptr<gliner::Scorer> scorer_;
};

/// Small layers that are sensitive to rounding: they compute in float32.
class Gliner2 final : public Head {
 public:
  Gliner2(const Gliner2Head& options, const HeadSource& source)
      : temperature_(options.temperature),
        classifier_(source.weights.in_float32() / "classifier", source.hidden_size,
                    {{"0", 2 * source.hidden_size}, {options.classifier_output, 1}}) {
    if (options.counting) {
      entities_.emplace(options, *options.counting, source.weights.in_float32(),
                        source.hidden_size);
    } else {
      for (const char* const name : kOtherTasks) source.weights.ignore_below(name);
    }
  }

  nn::OutputTokens input_tokens() const override { return nn::OutputTokens::kAllTokens; }
  size_t question_types() const override { return 1; }
  int64_t columns() const override { return entities_ ? 4 : 1; }

  /// The states of all tokens: outputs() needs the rows of labels and words.
  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& /*batch*/) const override {
    return hidden;
  }

  std::vector<scheduler::Output> outputs(const at::Tensor& hidden, const nn::PackedBatch& packed,
                                         Batch sequences) const override {
    auto [rows, counts] = marker_rows(packed, sequences);
    const at::Tensor logits =
        rows.empty() ? at::empty({0, 1}) : classifier_(gather_rows(hidden, rows)) / temperature_;
    std::vector<scheduler::Output> outputs = split_rows(logits, counts, packed);
    for (size_t i = 0; i < packed.order.size(); ++i) {
      const size_t index = packed.order[i];
      const EntityRows* const of_entities = sequences[index]->entities.get();
      if (of_entities == nullptr || !entities_) continue;
      outputs[index] = (*entities_)(hidden, packed.cu_seqlens[i], *of_entities);
    }
    return outputs;
  }

 private:
  double temperature_;
  Mlp classifier_;
  std::optional<EntityFinder> entities_;  // null: classification only
};

}  // namespace

std::unique_ptr<Head> make(const Gliner2Head& options, const HeadSource& source) {
  return std::make_unique<Gliner2>(options, source);
}

}  // namespace backend::heads
