#include <map>

#include "encoder/models/sequence_classifier.h"

namespace backend::models {
namespace {

const std::map<std::string, Architecture>& architectures() {
  using hf::Family;
  static const auto* table = new std::map<std::string, Architecture>{
      {"albert", {make_albert, "albert", Family::Albert}},
      {"bert", {make_bert, "bert", Family::Bert}},
      {"camembert", {make_roberta, "roberta", Family::Camembert}},
      {"data2vec-text", {make_data2vec_text, "data2vec_text", Family::Roberta}},
      {"deberta-v2", {make_deberta_v2, "deberta", Family::DebertaV2}},
      {"distilbert", {make_distilbert, "distilbert", Family::Bert}},
      {"electra", {make_electra, "electra", Family::Bert}},
      {"ernie", {make_ernie, "ernie", Family::Bert}},
      {"modernbert", {make_modernbert, "model", Family::TokenizerJson}},
      {"mpnet", {make_mpnet, "mpnet", Family::Mpnet}},
      {"roberta", {make_roberta, "roberta", Family::Roberta}},
      {"xlm-roberta", {make_roberta, "roberta", Family::XlmRoberta}},
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
