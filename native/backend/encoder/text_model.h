// A model directory in memory.
#pragma once

#include <memory>
#include <optional>

#include "backend/backends.h"
#include "encoder/heads/gliner/label_encoder.h"
#include "encoder/heads/head.h"
#include "encoder/shared_states.h"
#include "text/colbert.h"
#include "text/entity_prompt.h"
#include "text/schema_prompt.h"
#include "tokenizers/bridge.h"

namespace backend {

/// A loaded model directory.
struct TextModel {
  models::EncoderSizes sizes;
  std::unique_ptr<EncoderUse> encoder;
  std::unique_ptr<heads::Head> head;
  rust::Box<tokenizers::Tokenizer> tokenizer;
  ColbertTokenization colbert;
  std::optional<EntityPrompt> entity_prompt;
  std::optional<SchemaPrompt> schema_prompt;
  std::shared_ptr<const heads::gliner::LabelEncoder> label_encoder;  ///< null: none
  bool reads_lists = false;                                          ///< see ModelReport
  std::optional<TaskAdapters> task_adapters;
};

/// Loads the tokenizer on a second thread, in parallel with the weights: both take about as long.
/// The tokenizer gets the maximum length of the model afterwards. If both fail, the model's error
/// is thrown. Throws LoadError.
TextModel load_text_model(const TextModelSource& source, const ComputeTypes& compute_types);

}  // namespace backend
