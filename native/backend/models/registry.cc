#include <map>

#include "models/sequence_classifier.h"

namespace backend::models {
namespace {

const std::map<std::string, Architecture>& architectures() {
  using enum hf::TokenizerFamily;
  static const auto* table = new std::map<std::string, Architecture>{
      {"bert", {make_bert, kBert}},
      {"camembert", {make_roberta, kCamembert}},
      {"distilbert", {make_distilbert, kBert}},
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
