#include "encoder/heads/gliner/label_encoder.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <map>
#include <span>
#include <utility>

#include "common/error.h"
#include "encoder/registry.h"
#include "scheduler/backend.h"
#include "text/packed_batch.h"
#include "text/tokenize.h"

namespace backend::heads::gliner {
namespace {

/// About 32 MB for labels of 1024 values with some tokens each.
constexpr size_t kMaxCachedLabels = 8192;

rust::Box<tokenizers::Tokenizer> open_tokenizer(const LabelEncoderSource& source,
                                                const models::EncoderSizes& sizes) {
  try {
    auto tokenizer = tokenizers::open_tokenizer(tokenizers::bytes(source.tokenizer_directory),
                                                family_of(source.model_type).tokenizer_family,
                                                static_cast<size_t>(sizes.max_length));
    tokenizer->require_ids_below(static_cast<size_t>(sizes.vocabulary_size));
    return tokenizer;
  } catch (const rust::Error& error) {
    throw common::LoadError(std::string("the tokenizer of the labels: ") + error.what());
  }
}

std::unique_ptr<models::Encoder> make_encoder(const LabelEncoderSource& source,
                                              const Weights& weights) {
  const Weights own = weights / source.base_prefix;
  // gliner does not apply the pooler.
  for (const char* key : {"pooler.dense.weight", "pooler.dense.bias"}) own.ignore(key);
  return family_of(source.model_type).make_encoder(source.config, own);
}

Sequence to_sequence(const LabelIds& label) {
  return {
      .input_ids = label, .token_type_ids = std::vector<int64_t>(label.size(), 0), .samples = {}};
}

}  // namespace

LabelEncoder::LabelEncoder(const LabelEncoderSource& source, const Weights& weights)
    : encoder_(make_encoder(source, weights)),
      pooling_(modules::make(PoolingModule{.modes = {PoolingMode::kMean}}, hidden_size())),
      tokenizer_(open_tokenizer(source, encoder_->sizes())),
      cache_(kMaxCachedLabels) {}

std::vector<LabelIds> LabelEncoder::tokenize(const std::vector<std::string>& labels) const {
  std::vector<LabelIds> all;
  all.reserve(labels.size());
  size_t tokens = 0;
  for (const std::string& label : labels) {
    all.push_back(backend::tokenize(*tokenizer_, TextInput{.text = label}).input_ids);
    tokens += all.back().size();
    if (tokens > kMaxTokens) {
      throw scheduler::InputTooLong("The labels have more than " + std::to_string(kMaxTokens) +
                                    " tokens, the limit. Use fewer or shorter labels.");
    }
  }
  return all;
}

void LabelEncoder::encode_ahead(const std::vector<std::string>& labels) const {
  std::vector<LabelIds> all;
  all.reserve(labels.size());
  std::vector<const LabelIds*> ids;
  try {
    for (const std::string& label : labels) {
      all.push_back(backend::tokenize(*tokenizer_, TextInput{.text = label}).input_ids);
      ids.push_back(&all.back());
    }
  } catch (const std::exception& error) {
    throw common::LoadError(std::string("model.json: labels: ") + error.what());
  }
  if (!ids.empty()) (*this)(ids);
}

at::Tensor LabelEncoder::operator()(const std::vector<const LabelIds*>& labels) const {
  // The vectors are kept here, because the cache may drop them.
  std::map<LabelIds, at::Tensor> vectors;
  std::vector<const LabelIds*> missing;
  for (const LabelIds* const label : labels) {
    const auto [entry, is_new] = vectors.try_emplace(*label);
    if (!is_new) continue;
    entry->second = label->empty() ? at::zeros({hidden_size()}) : cache_.find(*label);
    if (!entry->second.defined()) missing.push_back(&entry->first);
  }
  for (auto& [label, vector] : encode_in_runs(missing)) {
    cache_.add(*label, vector);
    vectors[*label] = std::move(vector);
  }
  std::vector<at::Tensor> rows;
  rows.reserve(labels.size());
  for (const LabelIds* const label : labels) rows.push_back(vectors.at(*label));
  return at::stack(rows);
}

/// Encodes the labels in runs of at most kMaxTokens tokens, so that their number does not determine
/// the memory.
std::vector<LabelEncoder::Encoded> LabelEncoder::encode_in_runs(
    std::span<const LabelIds* const> labels) const {
  std::vector<Encoded> encoded;
  encoded.reserve(labels.size());
  while (!labels.empty()) {
    size_t count = 0, tokens = 0;
    do {
      tokens += labels[count++]->size();
    } while (count < labels.size() && tokens + labels[count]->size() <= kMaxTokens);
    encode(labels.first(count), encoded);
    labels = labels.subspan(count);
  }
  return encoded;
}

void LabelEncoder::encode(std::span<const LabelIds* const> labels,
                          std::vector<Encoded>& encoded) const {
  std::vector<Sequence> sequences;
  sequences.reserve(labels.size());
  for (const LabelIds* const label : labels) sequences.push_back(to_sequence(*label));
  std::vector<const Sequence*> batch;
  batch.reserve(sequences.size());
  for (const Sequence& sequence : sequences) batch.push_back(&sequence);
  const nn::PackedBatch packed(batch);
  const at::Tensor rows = (*pooling_)((*encoder_)(packed, nn::OutputTokens::kAllTokens), packed);
  for (size_t i = 0; i < packed.order.size(); ++i) {
    // A copy: a view would keep the rows of all labels in memory.
    encoded.emplace_back(labels[packed.order[i]], rows[static_cast<int64_t>(i)].clone());
  }
}

}  // namespace backend::heads::gliner
