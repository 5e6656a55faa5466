//! Which of transformers' tokenizer classes a directory means (tokenization_auto.py), and what is
//! different about each.

use std::path::Path;

use serde_json::Value;
use tokenizers::Tokenizer;

use crate::backend::{Source, file, unigram, words};
use crate::bridge::Family;
use crate::error::{Result, ensure};
use crate::files;
use crate::settings::{Defaults, Settings};

/// Since release 5, transformers takes only the vocabulary from tokenizer.json for the classes
/// that it knows, and builds the rest (normalizer, pre-tokenizer, special tokens) from
/// tokenizer_config.json. All other classes use tokenizer.json as it is (`OF_FILE`), and so do those that
/// inherit their `__init__` (`convert_to_native_format` asks for `"__init__" in cls.__dict__`).
pub struct Class {
    /// All are the same class under another name.
    names: &'static [&'static str],
    /// Whether the model is given token types (the class's own `model_input_names`).
    pub gives_token_types: bool,
    pub defaults: Defaults,
    /// Of one text and of two, see `templates::of_keys`; `None`: as tokenizer.json has it.
    pub templates: Option<[&'static str; 2]>,
    /// Whether they give way to those of tokenizer.json, or what tokenizer_config.json asks for.
    pub gives_way: bool,
    /// Builds the tokenizer, but for added tokens and templates.
    pub build: fn(&mut Source) -> Result<Tokenizer>,
}

const TYPED: Option<[&str; 2]> = Some([
    "cls_token $A sep_token",
    "cls_token $A sep_token $B:1 sep_token:1",
]);
const UNTYPED: Option<[&str; 2]> = Some([
    "cls_token $A sep_token",
    "cls_token $A sep_token sep_token $B sep_token",
]);
const OF_SENTENCES: Option<[&str; 2]> = Some([
    "bos_token $A eos_token",
    "bos_token $A eos_token eos_token $B eos_token",
]);

const BERT: Class = Class {
    names: &[
        "BertTokenizer",
        "ElectraTokenizer",
        "LayoutLMTokenizer",
        "LxmertTokenizer",
        "MobileBertTokenizer",
        "SqueezeBertTokenizer",
    ],
    gives_token_types: true,
    defaults: ["", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"],
    templates: TYPED,
    gives_way: false,
    build: words::bert,
};
const ROBERTA: Class = Class {
    names: &[
        "RobertaTokenizer",
        "LongformerTokenizer",
        "BartTokenizer",
        "LEDTokenizer",
        "MvpTokenizer",
    ],
    gives_token_types: false,
    defaults: ["<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"],
    templates: UNTYPED,
    build: words::roberta,
    ..BERT
};
const ALBERT: Class = Class {
    names: &["AlbertTokenizer"],
    gives_token_types: false,
    defaults: [
        "[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]",
    ],
    gives_way: true,
    build: unigram::albert,
    ..BERT
};
const OF_FILE: Class = Class {
    names: &[],
    gives_token_types: false,
    defaults: [""; 7],
    templates: None,
    gives_way: true,
    build: file::open,
};

static CLASSES: [Class; 11] = [
    BERT,
    // BERT's tokenizer under a name of its own: all but the templates is from tokenizer.json.
    Class {
        names: &["ConvBertTokenizer"],
        build: |source| file::open_or(source, words::bert),
        ..BERT
    },
    // BERT's tokenizer, for a model that reads no token types.
    Class {
        names: &["DistilBertTokenizer"],
        gives_token_types: false,
        ..BERT
    },
    ROBERTA,
    Class {
        names: &["MPNetTokenizer"],
        defaults: ["<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>"],
        build: words::mpnet,
        ..ROBERTA
    },
    ALBERT,
    // ALBERT's tokenizer under a name of its own, for a model that reads token types.
    Class {
        names: &["FNetTokenizer"],
        gives_token_types: true,
        build: |source| file::open_or(source, unigram::albert),
        ..ALBERT
    },
    Class {
        names: &["XLMRobertaTokenizer"],
        templates: OF_SENTENCES,
        build: unigram::xlm_roberta,
        ..ROBERTA
    },
    Class {
        names: &["CamembertTokenizer"],
        templates: OF_SENTENCES,
        build: unigram::camembert,
        ..ROBERTA
    },
    Class {
        names: &["DebertaV2Tokenizer"],
        defaults: [
            "[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]",
        ],
        build: unigram::deberta_v2,
        ..BERT
    },
    Class {
        names: &["DebertaTokenizer"],
        gives_token_types: true,
        ..OF_FILE
    },
];

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

/// The class's name.
pub fn choose(directory: &Path, settings: &Settings, family: Family) -> Result<String> {
    let config = files::read_object(directory, "config.json")?.unwrap_or_default();
    let of_config = config.get("tokenizer_class").and_then(Value::as_str);
    let named = settings.text("tokenizer_class").or(of_config);
    let name = match family {
        Family::TokenizerJson => "TokenizersBackend",
        _ if named.is_some() => named.unwrap_or_default(),
        Family::Bert => "BertTokenizer",
        Family::Roberta => "RobertaTokenizer",
        Family::Mpnet => "MPNetTokenizer",
        Family::Albert => "AlbertTokenizer",
        Family::XlmRoberta => "XLMRobertaTokenizer",
        Family::Camembert => "CamembertTokenizer",
        Family::DebertaV2 => "DebertaV2Tokenizer",
        _ => "TokenizersBackend",
    };
    ensure!(
        !PYTHON_CLASSES.contains(&name),
        "tokenizer_class: `{name}` is not supported: it exists in Python only"
    );
    Ok(name.to_owned())
}

impl Class {
    pub fn of_name(name: &str) -> &'static Self {
        let name = name.strip_suffix("Fast").unwrap_or(name);
        let mut classes = CLASSES.iter();
        let known = classes.find(|class| class.names.contains(&name));
        known.unwrap_or(&OF_FILE)
    }
}
