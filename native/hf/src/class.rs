//! Which of transformers' tokenizer classes a directory means (tokenization_auto.py).

use std::path::Path;

use serde_json::Value;

use crate::error::Result;
use crate::files;
use crate::settings::Settings;

/// The kind of model, for directories that do not name their tokenizer class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Bert,
    Roberta,
    Mpnet,
    Albert,
    XlmRoberta,
    Camembert,
    DebertaV2,
    /// tokenizer.json as it is.
    TokenizerJson,
}

impl Family {
    /// From `hf_family` of include/hf/hf.h.
    pub fn from_c(value: i32) -> Option<Self> {
        Some(match value {
            0 => Self::Bert,
            1 => Self::Roberta,
            2 => Self::Mpnet,
            3 => Self::Albert,
            4 => Self::XlmRoberta,
            5 => Self::Camembert,
            6 => Self::DebertaV2,
            7 => Self::TokenizerJson,
            _ => return None,
        })
    }
}

/// Since release 5, transformers takes only the vocabulary from tokenizer.json for the classes
/// that it knows, and builds the rest (normalizer, pre-tokenizer, special tokens) from
/// tokenizer_config.json. All other classes use tokenizer.json as it is (`File`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    Bert,
    Roberta,
    XlmRoberta,
    Camembert,
    File { name: String },
}

pub fn choose(directory: &Path, settings: &Settings, family: Family) -> Result<Class> {
    if let Some(name) = settings.text("tokenizer_class") {
        return Ok(from_name(name));
    }
    let config = files::read_object(directory, "config.json")?.unwrap_or_default();
    let text = |key: &str| config.get(key).and_then(Value::as_str);
    if let Some(name) = text("tokenizer_class") {
        return Ok(from_name(name));
    }
    Ok(match family {
        Family::Bert => Class::Bert,
        Family::Roberta => Class::Roberta,
        Family::Mpnet => from_name("MPNetTokenizer"),
        Family::Albert => from_name("AlbertTokenizer"),
        Family::XlmRoberta => Class::XlmRoberta,
        Family::Camembert => Class::Camembert,
        Family::DebertaV2 => from_name("DebertaV2Tokenizer"),
        Family::TokenizerJson => from_name("TokenizersBackend"),
    })
}

fn from_name(name: &str) -> Class {
    match name.strip_suffix("Fast").unwrap_or(name) {
        // All of these are BertTokenizer, or RobertaTokenizer, under another name.
        "BertTokenizer"
        | "DistilBertTokenizer"
        | "ElectraTokenizer"
        | "MobileBertTokenizer"
        | "SqueezeBertTokenizer"
        | "LayoutLMTokenizer" => Class::Bert,
        "RobertaTokenizer" | "LongformerTokenizer" | "BartTokenizer" => Class::Roberta,
        "XLMRobertaTokenizer" => Class::XlmRoberta,
        "CamembertTokenizer" => Class::Camembert,
        _ => Class::File {
            name: name.to_owned(),
        },
    }
}
