#include "encoder/registry.h"

#include <map>

namespace backend {
namespace {

using namespace models;
using Families = std::map<std::string, Family>;
using Heads = std::map<std::string, HeadFactory>;

const Families& families() {
  using Tokenizer = hf::Family;
  constexpr heads::HeadKeys kRobertaHeads{{"classifier.dense", "classifier.out_proj", "tanh"}};
  static const auto* table = new Families{
      {"albert",
       {make_albert, "albert", Tokenizer::Albert, {{"albert.pooler", "classifier", "tanh"}}}},
      {"bert", {make_bert, "bert", Tokenizer::Bert, {{"bert.pooler.dense", "classifier", "tanh"}}}},
      {"camembert", {make_roberta, "roberta", Tokenizer::Camembert, kRobertaHeads}},
      {"data2vec-text", {make_roberta, "data2vec_text", Tokenizer::Roberta, kRobertaHeads}},
      {"deberta-v2",
       {make_deberta_v2,
        "deberta",
        Tokenizer::DebertaV2,
        {{"pooler.dense", "classifier", "gelu", "pooler_hidden_act"}}}},
      {"distilbert",
       {make_distilbert,
        "distilbert",
        Tokenizer::Bert,
        {{"pre_classifier", "classifier", "relu"}}}},
      {"electra",
       {make_electra,
        "electra",
        Tokenizer::Bert,
        {{"classifier.dense", "classifier.out_proj", "gelu"}}}},
      {"ernie",
       {make_bert, "ernie", Tokenizer::Bert, {{"ernie.pooler.dense", "classifier", "tanh"}}}},
      {"modernbert",
       {make_modernbert,
        "model",
        Tokenizer::TokenizerJson,
        {{"head.dense", "classifier", "gelu", "classifier_activation", "head.norm"}}}},
      {"mpnet", {make_mpnet, "mpnet", Tokenizer::Mpnet, kRobertaHeads}},
      {"roberta", {make_roberta, "roberta", Tokenizer::Roberta, kRobertaHeads}},
      {"xlm-roberta", {make_roberta, "roberta", Tokenizer::XlmRoberta, kRobertaHeads}},
  };
  return *table;
}

const Heads& all_heads() {
  static const auto* table = new Heads{
      {"text-classification", heads::make_sequence_classification},
  };
  return *table;
}

/// `what`: for the error, "config.json: model_type".
template <class Table>
const auto& find(const Table& table, const std::string& name, const std::string& what) {
  const auto it = table.find(name);
  if (it != table.end()) return it->second;
  std::string known;
  for (const auto& [each, _] : table) known += (known.empty() ? "" : ", ") + each;
  throw LoadError(what + ": \"" + name + "\" is not supported (" + known + ")");
}

}  // namespace

const Family& family_of(const std::string& model_type) {
  return find(families(), model_type, "config.json: model_type");
}

HeadFactory head_for(const std::string& task) { return find(all_heads(), task, "task"); }

}  // namespace backend
