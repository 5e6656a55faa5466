// A text classifier: tokenizer and encoder of a Hugging Face directory.
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <future>
#include <mutex>
#include <utility>

#include "backend/backends.h"
#include "encoder/models/sequence_classifier.h"
#include "hf/bridge.h"
#include "products/numbers.h"
#include "products/team_in_use.h"
#include "runtime/runtime.h"
#include "text/tokenize.h"

namespace backend {
namespace {

std::unique_ptr<models::SequenceClassifier> load_model(const TextModelSource& source,
                                                       const Numbers& numbers) {
  const auto checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(source.weight_files));
  const models::Architecture& architecture = models::architecture_of(source.model_type);
  const Weights weights(checkpoint, architecture.base_prefix, numbers);
  auto model = architecture.make(source.config, weights);
  weights.require_all_used();
  checkpoint->release_pages();
  return model;
}

/// A model, and the tokenizer for what it reads.
struct TextModel {
  std::unique_ptr<models::SequenceClassifier> model;
  rust::Box<hf::Tokenizer> tokenizer;
};

/// The tokenizer is read on a thread of its own, if one can be had, beside the weights; each takes
/// about as long. It learns at the end what the model's position table holds. When both fail, the
/// model's error is the one thrown.
TextModel load_text_model(const TextModelSource& source, const Numbers& numbers) {
  const hf::Family family = models::architecture_of(source.model_type).tokenizer_family;
  auto opening = std::async(std::launch::async | std::launch::deferred, [&source, family] {
    return hf::open_tokenizer(hf::bytes(source.tokenizer_directory), family, SIZE_MAX);
  });
  auto model = load_model(source, numbers);
  try {
    rust::Box<hf::Tokenizer> tokenizer = opening.get();
    tokenizer->limit(static_cast<size_t>(model->max_length()));
    tokenizer->require_ids_below(static_cast<size_t>(model->vocabulary_size()));
    return {.model = std::move(model), .tokenizer = std::move(tokenizer)};
  } catch (const rust::Error& error) {
    throw LoadError(error.what());
  }
}

class TextEncoderBackend final : public engine::Backend {
 public:
  TextEncoderBackend(TextModel loaded, int64_t num_labels)
      : num_labels_(num_labels),
        model_(std::move(loaded.model)),
        tokenizer_(std::move(loaded.tokenizer)) {}

  engine::Description description() const override {
    return {.max_length = tokenizer_->max_length(),
            .batching = true,
            .needs_preparation = true,
            .uses_team = true};
  }

  engine::Sequence prepare(engine::Input input) const override {
    engine::Sequence sequence = tokenize(*tokenizer_, std::get<engine::Text>(input));
    // In a batch its first token would be another text's.
    if (sequence.input_ids.empty()) {
      throw engine::BackendError("the tokenizer leaves no token of the text");
    }
    require_known_ids(sequence.input_ids);
    require_known_types(sequence.token_type_ids);
    return sequence;
  }

  std::optional<engine::Sequence> prepare_thread(gemm::Team* team) override {
    // The first run on a thread sets up its allocator and kernels; no request should pay for it.
    engine::Sequence sequence = prepare(engine::Text{.text = std::string(kWarmUpText)});
    const engine::Sequence* batch[] = {&sequence, &sequence};
    for (const auto& [values, rows] : run(batch, team)) {
      if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) continue;
      throw LoadError(
          "the weights, or numbers of config.json: the model answers a trial text with NaN or an "
          "infinity");
    }
    return sequence;
  }

  std::vector<engine::Output> run(engine::Batch batch, gemm::Team* team) override {
    try {
      set_intra_op_threads(1);  // of LibTorch's own operators; the layers have the team
      const TeamInUse in_use(team);
      const c10::InferenceMode inference_mode;
      const nn::PackedBatch packed(batch);
      const at::Tensor logits = model_->forward(packed).contiguous();
      const auto* row = logits.const_data_ptr<float>();
      std::vector<engine::Output> results(batch.size());
      for (const size_t index : packed.order) {
        results[index].values.assign(row, row + num_labels_);
        row += num_labels_;
      }
      return results;
    } catch (...) {
      throw engine::BackendError(message_of_current_exception());
    }
  }

 private:
  /// A tokenizer with more entries than the model has rows would read past the table.
  void require_known_ids(const std::vector<int64_t>& ids) const {
    const auto highest = std::max_element(ids.begin(), ids.end());
    if (highest != ids.end() && *highest >= model_->vocabulary_size()) {
      throw engine::BackendError("the tokenizer gave the id " + std::to_string(*highest) +
                                 ", the model knows ids below " +
                                 std::to_string(model_->vocabulary_size()));
    }
  }

  /// A model with one token type cannot be asked of pairs by a tokenizer that tells two apart.
  void require_known_types(const std::vector<int64_t>& types) const {
    const int64_t rows = model_->token_types();
    const auto highest = std::max_element(types.begin(), types.end());
    if (rows > 0 && highest != types.end() && *highest >= rows) {
      throw engine::BackendError("the tokenizer gave the token type " + std::to_string(*highest) +
                                 ", the model knows types below " + std::to_string(rows));
    }
  }

  int64_t num_labels_;
  std::unique_ptr<models::SequenceClassifier> model_;
  rust::Box<hf::Tokenizer> tokenizer_;
};

}  // namespace

LoadedModel load_text_encoder(const TextModelSource& source, const ComputeOptions& compute) {
  const Numbers numbers = choose_numbers(compute);
  set_intra_op_threads(1);  // no OpenMP team for a thread that only loads
  keep_memory_between_batches();
  const c10::InferenceMode inference_mode;
  try {
    const int64_t num_labels = source.config.positive_integer("num_labels");
    return {.backend =
                std::make_shared<TextEncoderBackend>(load_text_model(source, numbers), num_labels),
            .report = {.kind = "text-encoder",
                       .num_outputs = static_cast<size_t>(num_labels),
                       .multiplication = describe_multiplication(numbers),
                       .warnings = kernel_warnings(numbers),
                       .trial = {}}};
  } catch (const LoadError&) {
    throw;
  } catch (...) {
    throw LoadError(message_of_current_exception());
  }
}

}  // namespace backend
