// A text model: tokenizer, encoder and head of a Hugging Face directory.
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <future>
#include <mutex>
#include <utility>

#include "backend/backends.h"
#include "encoder/registry.h"
#include "hf/bridge.h"
#include "products/numbers.h"
#include "products/team_in_use.h"
#include "runtime/runtime.h"
#include "text/tokenize.h"

namespace backend {
namespace {

/// A model of a directory: an encoder, and the head of its task.
struct Model {
  std::unique_ptr<models::Encoder> encoder;
  std::unique_ptr<heads::Head> head;
};

Model load_model(const TextModelSource& source, const Numbers& numbers) {
  const auto checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(source.weight_files));
  const Family& family = family_of(source.model_type);
  const Weights weights(checkpoint, family.base_prefix, numbers);
  Model model;
  model.encoder = family.make_encoder(source.config, weights / family.base_prefix);
  model.head = head_for(source.task)({.config = source.config,
                                      .weights = weights,
                                      .keys = family.heads,
                                      .hidden_size = model.encoder->sizes().hidden_size});
  weights.require_all_used();
  checkpoint->release_pages();
  return model;
}

/// A model, and the tokenizer for what it reads.
struct TextModel {
  Model model;
  rust::Box<hf::Tokenizer> tokenizer;
};

/// The tokenizer is read on a thread of its own, if one can be had, beside the weights; each takes
/// about as long. It learns at the end what the model's position table holds. When both fail, the
/// model's error is the one thrown.
TextModel load_text_model(const TextModelSource& source, const Numbers& numbers) {
  const hf::Family family = family_of(source.model_type).tokenizer_family;
  auto opening = std::async(std::launch::async | std::launch::deferred, [&source, family] {
    return hf::open_tokenizer(hf::bytes(source.tokenizer_directory), family, SIZE_MAX);
  });
  Model model = load_model(source, numbers);
  try {
    rust::Box<hf::Tokenizer> tokenizer = opening.get();
    const models::EncoderSizes sizes = model.encoder->sizes();
    tokenizer->limit(static_cast<size_t>(sizes.max_length));
    tokenizer->require_ids_below(static_cast<size_t>(sizes.vocabulary_size));
    return {.model = std::move(model), .tokenizer = std::move(tokenizer)};
  } catch (const rust::Error& error) {
    throw LoadError(error.what());
  }
}

class TextEncoderBackend final : public engine::Backend {
 public:
  explicit TextEncoderBackend(TextModel loaded)
      : encoder_(std::move(loaded.model.encoder)),
        head_(std::move(loaded.model.head)),
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
      return packed.outputs((*head_)((*encoder_)(packed, head_->reads()), packed));
    } catch (...) {
      throw engine::BackendError(message_of_current_exception());
    }
  }

 private:
  /// A tokenizer with more entries than the model has rows would read past the table.
  void require_known_ids(const std::vector<int64_t>& ids) const {
    const auto highest = std::max_element(ids.begin(), ids.end());
    if (highest != ids.end() && *highest >= encoder_->sizes().vocabulary_size) {
      throw engine::BackendError("the tokenizer gave the id " + std::to_string(*highest) +
                                 ", the model knows ids below " +
                                 std::to_string(encoder_->sizes().vocabulary_size));
    }
  }

  /// A model with one token type cannot be asked of pairs by a tokenizer that tells two apart.
  void require_known_types(const std::vector<int64_t>& types) const {
    const int64_t rows = encoder_->sizes().token_types;
    const auto highest = std::max_element(types.begin(), types.end());
    if (rows > 0 && highest != types.end() && *highest >= rows) {
      throw engine::BackendError("the tokenizer gave the token type " + std::to_string(*highest) +
                                 ", the model knows types below " + std::to_string(rows));
    }
  }

  std::unique_ptr<models::Encoder> encoder_;
  std::unique_ptr<heads::Head> head_;
  rust::Box<hf::Tokenizer> tokenizer_;
};

}  // namespace

LoadedModel load(const TextModelSource& source, const ComputeOptions& compute) {
  const Numbers numbers = choose_numbers(compute);
  set_intra_op_threads(1);  // no OpenMP team for a thread that only loads
  keep_memory_between_batches();
  const c10::InferenceMode inference_mode;
  try {
    TextModel loaded = load_text_model(source, numbers);
    const auto columns = static_cast<size_t>(loaded.model.head->columns());
    return {.backend = std::make_shared<TextEncoderBackend>(std::move(loaded)),
            .report = {.kind = "text-encoder",
                       .num_outputs = columns,
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
