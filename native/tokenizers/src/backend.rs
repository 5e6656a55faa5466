//! Builds the tokenizer of a class as transformers 5.23 builds it (`__init__` of the classes in
//! models/*/tokenization_*.py).

use std::path::Path;

use serde_json::{Map, Value};
use tokenizers::normalizers::Sequence;
use tokenizers::pre_tokenizers::sequence::Sequence as Splitters;
use tokenizers::{DecoderWrapper, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use crate::config::TokenizerConfig;
use crate::tokenizer_class::TokenizerClass;
use errors::{At, Result};

pub mod bert_roberta;
mod config_consistency;
mod regex_limits;
mod templates;
pub mod tokenizer_json;
pub mod unigram;
mod unigram_vocabulary;

pub use templates::{Part, Template, Templates, special_token_count};

pub struct BuiltTokenizer {
    pub tokenizer: Tokenizer,
    pub templates: Templates,
    /// Id of `pad_token`, if the configuration names one.
    pub pad_token_id: Option<u32>,
    /// Id of `unk_token`, if the configuration names one.
    pub unk_token_id: Option<u32>,
    /// Id of `mask_token`, otherwise of `eos_token`.
    pub expansion_token_id: Option<u32>,
}

/// Input of the builders.
pub struct Source<'a> {
    pub directory: &'a Path,
    /// Name of the tokenizer class.
    pub class: String,
    /// Bytes and content of tokenizer.json, if present.
    pub file: Option<(&'a [u8], &'a Map<String, Value>)>,
    pub settings: TokenizerConfig,
}

pub fn build(mut source: Source) -> Result<BuiltTokenizer> {
    let class = TokenizerClass::of_name(&source.class);
    source.settings.special_tokens.set_defaults(class.defaults);
    let mut tokenizer = (class.build)(&mut source)?;
    let settings = &source.settings;
    let known: Vec<_> = tokenizer.get_added_tokens_decoder().into_values().collect();
    let added = settings.special_tokens.to_add(&known);
    tokenizer.add_tokens(added).at("added tokens")?;
    tokenizer.set_encode_special_tokens(settings.flag("split_special_tokens", false)?);
    let mut templates = templates_of(&tokenizer, &source, class)?;
    let gives_types = settings.lists_token_type_ids();
    if !gives_types.unwrap_or(class.uses_token_types) {
        templates.clear_types();
    }
    let id_of = |key| {
        let token = settings.special_tokens.standard(key)?;
        tokenizer.token_to_id(token)
    };
    Ok(BuiltTokenizer {
        pad_token_id: id_of("pad_token"),
        unk_token_id: id_of("unk_token"),
        expansion_token_id: id_of("mask_token").or_else(|| id_of("eos_token")),
        tokenizer,
        templates,
    })
}

/// Templates of the class or of the files.
fn templates_of(
    tokenizer: &Tokenizer,
    source: &Source,
    class: &TokenizerClass,
) -> Result<Templates> {
    let settings = &source.settings;
    let has_others = match source.file {
        Some(_) => tokenizer.get_post_processor().is_some(),
        None => templates::adds_bos_or_eos(settings),
    };
    match class.templates {
        Some(own) if !(class.prefers_file_templates && has_others) => {
            templates::from_keys(tokenizer, settings, own)
        }
        _ if source.file.is_some() => templates::from_post_processor(tokenizer),
        _ => templates::from_bos_eos_flags(tokenizer, settings),
    }
}

/// Creates a tokenizer from pipeline steps. `decoder` converts tokens back to text.
fn from_steps(
    model: impl Into<ModelWrapper>,
    normalizers: Vec<NormalizerWrapper>,
    pre_tokenizers: Vec<PreTokenizerWrapper>,
    decoder: impl Into<DecoderWrapper>,
) -> Result<Tokenizer> {
    let mut tokenizer = Tokenizer::new(model);
    let normalizer = Some(Sequence::new(normalizers));
    tokenizer.with_normalizer(normalizer).at("normalizer")?;
    tokenizer.with_pre_tokenizer(Some(Splitters::new(pre_tokenizers)));
    tokenizer.with_decoder(Some(decoder));
    Ok(tokenizer)
}
