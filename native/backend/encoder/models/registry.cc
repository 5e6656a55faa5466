#include <map>

#include "encoder/models/sequence_classifier.h"

namespace backend::models {
namespace {

const std::map<std::string, Architecture>& architectures() {
  using enum hf::TokenizerFamily;
  static const auto* table = new std::map<std::string, Architecture>{
      {"albert", {make_albert, "albert", kAlbert}},
      {"bert", {make_bert, "bert", kBert}},
      {"camembert", {make_roberta, "roberta", kCamembert}},
      {"data2vec-text", {make_data2vec_text, "data2vec_text", kRoberta}},
      {"deberta-v2", {make_deberta_v2, "deberta", kDebertaV2}},
      {"distilbert", {make_distilbert, "distilbert", kBert}},
      {"electra", {make_electra, "electra", kBert}},
      {"ernie", {make_ernie, "ernie", kBert}},
      {"modernbert", {make_modernbert, "model", kTokenizerJson}},
      {"mpnet", {make_mpnet, "mpnet", kMpnet}},
      {"roberta", {make_roberta, "roberta", kRoberta}},
      {"xlm-roberta", {make_roberta, "roberta", kXlmRoberta}},
  };
  return *table;
}

}  // namespace

const Architecture& architecture_of(const std::string& model_type) {
  const auto it = architectures().find(model_type);
  if (it != architectures().end()) return it->second;
  std::string known;
  for (const auto& [name, architecture] : architectures()) {
    known += (known.empty() ? "" : ", ") + name;
  }
  throw LoadError("config.json: model_type: \"" + model_type + "\" is not supported (" + known +
                  ")");
}

}  // namespace backend::models
