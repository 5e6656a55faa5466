#include <map>

#include "models/sequence_classifier.h"

namespace backend::models {
namespace {

const std::map<std::string, Architecture>& architectures() {
  using enum hf::TokenizerFamily;
  static const auto* table = new std::map<std::string, Architecture>{
      {"albert", {make_albert, kAlbert}},
      {"bert", {make_bert, kBert}},
      {"camembert", {make_roberta, kCamembert}},
      {"data2vec-text", {make_data2vec_text, kRoberta}},
      {"deberta-v2", {make_deberta_v2, kDebertaV2}},
      {"distilbert", {make_distilbert, kBert}},
      {"electra", {make_electra, kBert}},
      {"ernie", {make_ernie, kBert}},
      {"modernbert", {make_modernbert, kTokenizerJson}},
      {"mpnet", {make_mpnet, kMpnet}},
      {"roberta", {make_roberta, kRoberta}},
      {"xlm-roberta", {make_roberta, kXlmRoberta}},
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
