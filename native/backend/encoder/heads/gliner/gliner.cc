// GLiNER: entities of a text for the labels of a request.
// Source: gliner, modeling/base.py (UniEncoderSpanModel, UniEncoderTokenModel, BiEncoderSpanModel,
// BiEncoderTokenModel).
#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "encoder/heads/gliner/label_encoder.h"
#include "encoder/heads/gliner/projection.h"
#include "encoder/heads/gliner/scorer.h"
#include "encoder/heads/head.h"
#include "encoder/nn/lstm.h"

namespace backend::heads {
namespace {

using gliner::LabelEncoder;
using gliner::Projection;
using gliner::Scorer;

at::Tensor gather(const at::Tensor& hidden, std::vector<int64_t>& rows) {
  const auto count = static_cast<int64_t>(rows.size());
  return at::index_select(hidden, 0, at::from_blob(rows.data(), {count}, at::kLong));
}

/// Rows of the words and labels of all sequences, in packed order. A model with a label encoder has
/// ids of the labels instead of rows.
struct Rows {
  std::vector<int64_t> words, labels;
  std::vector<const LabelIds*> label_ids;
  std::vector<int64_t> word_counts, label_counts;
};

Rows rows_of(const nn::PackedBatch& packed, Batch sequences) {
  Rows rows;
  const auto append = [](std::vector<int64_t>& to, const std::vector<int64_t>& from,
                         int64_t first) {
    for (const int64_t row : from) to.push_back(first + row);
  };
  for (size_t i = 0; i < packed.order.size(); ++i) {
    const EntityRows* const entities = sequences[packed.order[i]]->entities.get();
    const int64_t first = packed.cu_seqlens[i];
    rows.word_counts.push_back(entities ? static_cast<int64_t>(entities->words.size()) : 0);
    rows.label_counts.push_back(
        entities ? static_cast<int64_t>(entities->labels.size() + entities->label_ids.size()) : 0);
    if (entities == nullptr) continue;
    for (const LabelIds& label : entities->label_ids) rows.label_ids.push_back(&label);
    append(rows.words, entities->words, first);
    append(rows.labels, entities->labels, first);
  }
  return rows;
}

/// Small layers that are sensitive to rounding: they compute in float32.
class Gliner final : public Head {
 public:
  Gliner(const GlinerHead& options, const HeadSource& source)
      : label_encoder_(source.label_encoder) {
    const Weights weights = source.weights.in_float32();
    const int64_t size = options.hidden_size;
    if (size != source.hidden_size) {
      projection_.emplace(weights / "token_rep_layer.projection", source.hidden_size, size);
    }
    if (label_encoder_ && size != label_encoder_->hidden_size()) {
      label_projection_.emplace(weights / "token_rep_layer.labels_projection",
                                label_encoder_->hidden_size(), size);
    }
    if (label_encoder_) {
      // gliner does not apply the LSTM of a bi-encoder.
      nn::Lstm::ignore(weights / "rnn.lstm", options.lstm_layers);
    } else if (options.lstm_layers > 0) {
      lstm_.emplace(weights / "rnn.lstm", size, options.lstm_layers);
    }
    if (options.mode == SpanMode::kTokenLevel) {
      scorer_ = gliner::make_token_scorer(weights, options);
      return;
    }
    prompt_.emplace(weights / "prompt_rep_layer", size, 4 * size, size);
    scorer_ = gliner::make_marker_scorer(weights, options);
  }

  nn::OutputTokens input_tokens() const override { return nn::OutputTokens::kAllTokens; }

  int64_t columns() const override { return 4; }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& /*batch*/) const override {
    return hidden;
  }

  std::vector<scheduler::Output> outputs(const at::Tensor& hidden, const nn::PackedBatch& packed,
                                         Batch sequences) const override {
    Rows rows = rows_of(packed, sequences);
    std::vector<scheduler::Output> outputs(packed.order.size(), {.values = {}, .rows = 0});
    if (rows.words.empty()) return outputs;
    at::Tensor words = project(gather(hidden, rows.words));
    if (lstm_) words = (*lstm_)(words, rows.word_counts);
    const at::Tensor labels = vectors_of_labels(hidden, rows);
    int64_t word = 0, label = 0;
    for (size_t i = 0; i < packed.order.size(); ++i) {
      const int64_t word_count = rows.word_counts[i], label_count = rows.label_counts[i];
      if (word_count == 0) continue;
      const size_t index = packed.order[i];
      outputs[index] = gliner::to_output((*scorer_)(words.narrow(0, word, word_count),
                                                    labels.narrow(0, label, label_count),
                                                    sequences[index]->entities->threshold));
      word += word_count;
      label += label_count;
    }
    return outputs;
  }

 private:
  at::Tensor project(const at::Tensor& states) const {
    return projection_ ? (*projection_)(states) : states;
  }

  /// [labels, hidden]
  at::Tensor vectors_of_labels(const at::Tensor& hidden, Rows& rows) const {
    at::Tensor labels;
    if (label_encoder_) {
      labels = (*label_encoder_)(rows.label_ids);
      if (label_projection_) labels = (*label_projection_)(labels);
    } else {
      labels = project(gather(hidden, rows.labels));
    }
    return prompt_ ? (*prompt_)(labels) : labels;
  }

  std::shared_ptr<const LabelEncoder> label_encoder_;  // null: the prompt contains the labels
  std::optional<nn::Linear> projection_, label_projection_;
  std::optional<nn::Lstm> lstm_;
  std::optional<Projection> prompt_;  // of the labels
  std::unique_ptr<Scorer> scorer_;
};

}  // namespace

std::unique_ptr<Head> make(const GlinerHead& options, const HeadSource& source) {
  return std::make_unique<Gliner>(options, source);
}

}  // namespace backend::heads
