#include "encoder/text_model.h"

#include <cstdint>
#include <future>
#include <string>
#include <utility>

#include "common/error.h"
#include "encoder/registry.h"
#include "text/tokenize.h"

namespace backend {
namespace {

/// Static embeddings. config: "model2vec" selects the library, and "max_length" its limit.
void set_up_static(tokenizers::Tokenizer& tokenizer, const ModelConfig& config) {
  tokenizer.omit_special_tokens();
  if (!config.boolean_or("model2vec", false)) return;
  tokenizer.follow_model2vec(static_cast<size_t>(config.count_or("max_length", 0)));
}

struct LoadedEncoder {
  std::unique_ptr<const models::Encoder> encoder;
  std::shared_ptr<SharedStates> states;
};

/// Loads the encoder. A model with an equal encoder shares the states: the same architecture,
/// tensors, data types, and entries of config.json that the encoder reads. LoRA updates are not
/// compared.
LoadedEncoder load_encoder(const TextModelSource& source, const Weights& base) {
  const Family& family = family_of(source.model_type);
  if (source.adapter || source.task_adapters || family.is_static) {
    return {family.make_encoder(source.config, base), std::make_shared<SharedStates>()};
  }
  ContentHash content;
  std::string entries;
  base.record_to(&content);
  auto encoder = family.make_encoder(source.config.recording_to(entries), base);
  base.record_to(nullptr);
  content.add(source.model_type);
  content.add(entries);
  const ComputeTypes& types = base.compute_types();
  for (const Dtype type : {types.linear, types.attention}) content.add(&type, sizeof(type));
  return {std::move(encoder), share_states(content.finish())};
}

}  // namespace

TextModel load_text_model(const TextModelSource& source, const ComputeTypes& compute_types) {
  const Family& family = family_of(source.model_type);
  using OpenedTokenizer = std::shared_ptr<rust::Box<tokenizers::Tokenizer>>;
  const std::shared_future<OpenedTokenizer> opened =
      std::async(std::launch::async | std::launch::deferred, [&] {
        return std::make_shared<rust::Box<tokenizers::Tokenizer>>(tokenizers::open_tokenizer(
            tokenizers::bytes(source.tokenizer_directory), family.tokenizer_family, SIZE_MAX));
      }).share();
  const auto first_token_id = [&](const std::string& text) {
    return (*opened.get())->first_id(text);
  };
  Checkpoint opened_files = Checkpoint::open(source.weight_files);
  if (source.task_adapters) opened_files.set_task_adapters(*source.task_adapters);
  if (source.adapter) opened_files.add_adapter(*source.adapter, family.base_prefix, family.names);
  const auto checkpoint = std::make_shared<const Checkpoint>(std::move(opened_files));
  const std::string prefix = source.base_prefix.empty() ? family.base_prefix : source.base_prefix;
  const Weights weights(checkpoint, prefix, compute_types);
  const Weights base = weights / prefix;
  auto [encoder, states] = load_encoder(source, base);
  const models::EncoderSizes sizes = encoder->sizes();
  std::shared_ptr<const heads::gliner::LabelEncoder> label_encoder;
  if (const auto& labels = source.label_encoder) {
    label_encoder = std::make_shared<const heads::gliner::LabelEncoder>(*labels, weights);
  }
  const heads::HeadSource head_source{.config = source.config,
                                      .weights = weights,
                                      .base = base,
                                      .keys = family.heads,
                                      .hidden_size = sizes.hidden_size,
                                      .vocabulary_size = sizes.vocabulary_size,
                                      .first_token_id = first_token_id,
                                      .encoder_pools = encoder->pools_mean(),
                                      .label_encoder = label_encoder};
  auto head =
      std::visit([&](const auto& what) { return heads::make(what, head_source); }, source.head);
  weights.require_all_used();
  checkpoint->release_pages();
  try {
    rust::Box<tokenizers::Tokenizer> tokenizer = std::move(*opened.get());
    apply_options(*tokenizer, source.tokenization);
    if (family.is_static) set_up_static(*tokenizer, source.config);
    for (const std::string& prefix : source.late_interaction.prefixes) {
      tokenizer->register_prefix_token(prefix);
    }
    tokenizer->limit_positions(static_cast<size_t>(sizes.max_length));
    auto rows = static_cast<size_t>(sizes.vocabulary_size);
    if (label_encoder && source.entity_prompt) {
      rows += count_tokens_without_row(*tokenizer, *source.entity_prompt, rows);
    }
    tokenizer->require_ids_below(rows);
    ColbertTokenization colbert(source.late_interaction, *tokenizer,
                                static_cast<size_t>(sizes.max_length));
    require_tokens(*tokenizer, source.required_tokens);
    if (source.entity_prompt && !label_encoder) {
      require_prompt_tokens(*tokenizer, *source.entity_prompt);
    }
    if (label_encoder && source.label_encoder) {
      label_encoder->encode_ahead(source.label_encoder->labels);
    }
    const bool reads_lists = family.is_static && head->pools_chunks();
    auto use =
        std::make_unique<EncoderUse>(std::move(encoder), std::move(states), head->input_tokens());
    return {sizes,
            std::move(use),
            std::move(head),
            std::move(tokenizer),
            std::move(colbert),
            source.entity_prompt,
            source.schema_prompt,
            label_encoder,
            reads_lists,
            source.task_adapters};
  } catch (const rust::Error& error) {
    throw common::LoadError(error.what());
  }
}

}  // namespace backend
