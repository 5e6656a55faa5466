//! Which of transformers' tokenizer classes a directory means (tokenization_auto.py).

use std::path::Path;

use serde_json::Value;

use crate::bridge::Family;
use crate::error::{Error, Result};
use crate::files;
use crate::settings::Settings;

/// Since release 5, transformers takes only the vocabulary from tokenizer.json for the classes
/// that it knows, and builds the rest (normalizer, pre-tokenizer, special tokens) from
/// tokenizer_config.json. All other classes use tokenizer.json as it is (`File`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    Bert,
    /// BERT's tokenizer, for a model that reads no token types.
    DistilBert,
    Roberta,
    Mpnet,
    Albert,
    /// ALBERT's tokenizer, for a model that reads token types.
    FNet,
    XlmRoberta,
    Camembert,
    DebertaV2,
    File {
        name: String,
    },
}

impl Class {
    /// Whether the model is given token types (the class's own `model_input_names`).
    pub fn gives_token_types(&self) -> bool {
        match self {
            Self::Bert | Self::FNet | Self::DebertaV2 => true,
            Self::File { name } => name.trim_end_matches("Fast") == "DebertaTokenizer",
            _ => false,
        }
    }
}

/// The reference has no other implementation of these than Python code.
const PYTHON_CLASSES: [&str; 15] = [
    "BartphoTokenizer",
    "BertGenerationTokenizer",
    "BertJapaneseTokenizer",
    "BertweetTokenizer",
    "BioGptTokenizer",
    "CanineTokenizer",
    "CTRLTokenizer",
    "EsmTokenizer",
    "FlaubertTokenizer",
    "PerceiverTokenizer",
    "PhobertTokenizer",
    "ProphetNetTokenizer",
    "RoCBertTokenizer",
    "TapasTokenizer",
    "XLMTokenizer",
];

pub fn choose(directory: &Path, settings: &Settings, family: Family) -> Result<Class> {
    let named = settings.text("tokenizer_class");
    let config = files::read_object(directory, "config.json")?.unwrap_or_default();
    let named = named.or_else(|| config.get("tokenizer_class").and_then(Value::as_str));
    match (named, family) {
        (_, Family::TokenizerJson) => Ok(from_name("TokenizersBackend")),
        (Some(name), _) if PYTHON_CLASSES.contains(&name) => Err(Error::new(format!(
            "tokenizer_class: `{name}` is not supported: it exists in Python only"
        ))),
        (Some(name), _) => Ok(from_name(name)),
        (None, family) => Ok(of_family(family)),
    }
}

fn of_family(family: Family) -> Class {
    match family {
        Family::Bert => Class::Bert,
        Family::Roberta => Class::Roberta,
        Family::Mpnet => Class::Mpnet,
        Family::Albert => Class::Albert,
        Family::XlmRoberta => Class::XlmRoberta,
        Family::Camembert => Class::Camembert,
        Family::DebertaV2 => Class::DebertaV2,
        _ => from_name("TokenizersBackend"),
    }
}

fn from_name(name: &str) -> Class {
    match name.strip_suffix("Fast").unwrap_or(name) {
        // All of one line are the same class under another name.
        "BertTokenizer"
        | "ConvBertTokenizer"
        | "ElectraTokenizer"
        | "LayoutLMTokenizer"
        | "LxmertTokenizer"
        | "MobileBertTokenizer"
        | "SqueezeBertTokenizer" => Class::Bert,
        "DistilBertTokenizer" => Class::DistilBert,
        "RobertaTokenizer"
        | "LongformerTokenizer"
        | "BartTokenizer"
        | "LEDTokenizer"
        | "MvpTokenizer" => Class::Roberta,
        "MPNetTokenizer" => Class::Mpnet,
        "AlbertTokenizer" => Class::Albert,
        "FNetTokenizer" => Class::FNet,
        "XLMRobertaTokenizer" => Class::XlmRoberta,
        "CamembertTokenizer" => Class::Camembert,
        "DebertaV2Tokenizer" => Class::DebertaV2,
        _ => Class::File {
            name: name.to_owned(),
        },
    }
}
