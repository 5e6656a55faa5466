//! Selection of the transformers tokenizer class (tokenization_auto.py), and the differences between the classes.

use std::path::Path;

use serde_json::Value;
use tokenizers::Tokenizer;

use crate::backend::{Source, bert_roberta, tokenizer_json, unigram};
use crate::bridge::Family;
use crate::config::{Defaults, TokenizerConfig};
use crate::files;
use errors::{Result, ensure};

/// A tokenizer class. Since release 5, transformers reads only the vocabulary from tokenizer.json for the classes that
/// it implements, and builds the normalizer, the pre-tokenizer and special tokens from tokenizer_config.json. All other
/// classes use tokenizer.json without changes (`GENERIC`), including those that inherit `__init__`
/// (`convert_to_native_format` tests `"__init__" in cls.__dict__`).
pub struct TokenizerClass {
    /// Names of the class and of its aliases.
    names: &'static [&'static str],
    /// True if the model takes token types (`model_input_names` of the class).
    pub uses_token_types: bool,
    pub defaults: Defaults,
    /// Templates for one text and for a pair, see `templates::from_keys`; `None`: those of tokenizer.json.
    pub templates: Option<[&'static str; 2]>,
    /// True if the templates of tokenizer.json, or the flags of tokenizer_config.json, take precedence over
    /// `templates`.
    pub prefers_file_templates: bool,
    /// Builds the tokenizer without added tokens and templates.
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
const SENTENCEPIECE: Option<[&str; 2]> = Some([
    "bos_token $A eos_token",
    "bos_token $A eos_token eos_token $B eos_token",
]);

const BERT: TokenizerClass = TokenizerClass {
    names: &[
        "BertTokenizer",
        "ElectraTokenizer",
        "LayoutLMTokenizer",
        "LxmertTokenizer",
        "MobileBertTokenizer",
        "SqueezeBertTokenizer",
    ],
    uses_token_types: true,
    defaults: ["", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"],
    templates: TYPED,
    prefers_file_templates: false,
    build: bert_roberta::bert,
};
const ROBERTA: TokenizerClass = TokenizerClass {
    names: &[
        "RobertaTokenizer",
        "LongformerTokenizer",
        "BartTokenizer",
        "LEDTokenizer",
        "MvpTokenizer",
    ],
    uses_token_types: false,
    defaults: ["<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"],
    templates: UNTYPED,
    build: bert_roberta::roberta,
    ..BERT
};
const ALBERT: TokenizerClass = TokenizerClass {
    names: &["AlbertTokenizer"],
    uses_token_types: false,
    defaults: [
        "[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]",
    ],
    prefers_file_templates: true,
    build: unigram::albert,
    ..BERT
};
const GENERIC: TokenizerClass = TokenizerClass {
    names: &[],
    uses_token_types: false,
    defaults: [""; 7],
    templates: None,
    prefers_file_templates: true,
    build: tokenizer_json::open,
};

static CLASSES: [TokenizerClass; 11] = [
    BERT,
    // Reads everything except the templates from tokenizer.json.
    TokenizerClass {
        names: &["ConvBertTokenizer"],
        build: |source| tokenizer_json::open_or_build(source, bert_roberta::bert),
        ..BERT
    },
    // BERT's tokenizer for a model without token types.
    TokenizerClass {
        names: &["DistilBertTokenizer"],
        uses_token_types: false,
        ..BERT
    },
    ROBERTA,
    TokenizerClass {
        names: &["MPNetTokenizer"],
        defaults: ["<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>"],
        build: bert_roberta::mpnet,
        ..ROBERTA
    },
    ALBERT,
    // ALBERT's tokenizer for a model with token types. Reads everything except the templates from tokenizer.json.
    TokenizerClass {
        names: &["FNetTokenizer"],
        uses_token_types: true,
        build: |source| tokenizer_json::open_or_build(source, unigram::albert),
        ..ALBERT
    },
    TokenizerClass {
        names: &["XLMRobertaTokenizer"],
        templates: SENTENCEPIECE,
        build: unigram::xlm_roberta,
        ..ROBERTA
    },
    TokenizerClass {
        names: &["CamembertTokenizer"],
        templates: SENTENCEPIECE,
        build: unigram::camembert,
        ..ROBERTA
    },
    TokenizerClass {
        names: &["DebertaV2Tokenizer"],
        defaults: [
            "[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]",
        ],
        build: unigram::deberta_v2,
        ..BERT
    },
    TokenizerClass {
        names: &["DebertaTokenizer"],
        uses_token_types: true,
        ..GENERIC
    },
];

/// Classes that transformers implements in Python only.
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

/// Returns the name of the class.
pub fn choose(directory: &Path, settings: &TokenizerConfig, family: Family) -> Result<String> {
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
        "tokenizer_class: `{name}` is not supported: transformers implements it in Python only"
    );
    Ok(name.to_owned())
}

impl TokenizerClass {
    pub fn of_name(name: &str) -> &'static Self {
        let name = name.strip_suffix("Fast").unwrap_or(name);
        let mut classes = CLASSES.iter();
        let known = classes.find(|class| class.names.contains(&name));
        known.unwrap_or(&GENERIC)
    }
}
