//! Builds the tokenizer of a class as transformers 5.23 builds it (`__init__` of the classes in
//! models/*/tokenization_*.py).

use std::path::Path;

use serde_json::{Map, Value};
use tokenizers::normalizers::Sequence;
use tokenizers::pre_tokenizers::sequence::Sequence as Splitters;
use tokenizers::{DecoderWrapper, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use crate::class::Class;
use crate::error::{At, Result};
use crate::settings::Settings;

mod agreement;
pub mod file;
mod patterns;
mod pieces;
mod templates;
pub mod unigram;
pub mod words;

pub use templates::{Part, Template, Templates, specials};

pub struct Backend {
    pub tokenizer: Tokenizer,
    pub templates: Templates,
    /// Of the token that its settings name for padding.
    pub padding_id: Option<u32>,
    /// Of the one that they name for what the vocabulary does not have.
    pub unknown_id: Option<u32>,
    /// Of the token for what is masked, else of the one that ends a text.
    pub filling_id: Option<u32>,
}

/// What a tokenizer is built from.
pub struct Source<'a> {
    pub directory: &'a Path,
    /// The name of its class.
    pub class: String,
    /// tokenizer.json, where there is one.
    pub file: Option<(&'a [u8], &'a Map<String, Value>)>,
    pub settings: Settings,
}

pub fn build(mut source: Source) -> Result<Backend> {
    let class = Class::of_name(&source.class);
    source.settings.special_tokens.set_defaults(class.defaults);
    let mut tokenizer = (class.build)(&mut source)?;
    let settings = &source.settings;
    let known: Vec<_> = tokenizer.get_added_tokens_decoder().into_values().collect();
    let added = settings.special_tokens.to_add(&known);
    tokenizer.add_tokens(added).at("added tokens")?;
    tokenizer.set_encode_special_tokens(settings.flag("split_special_tokens", false)?);
    let mut templates = templates_of(&tokenizer, &source, class)?;
    let gives_types = settings.names_token_type_ids();
    if !gives_types.unwrap_or(class.gives_token_types) {
        templates.clear_types();
    }
    let id_of = |key| {
        let token = settings.special_tokens.standard(key)?;
        tokenizer.token_to_id(token)
    };
    Ok(Backend {
        padding_id: id_of("pad_token"),
        unknown_id: id_of("unk_token"),
        filling_id: id_of("mask_token").or_else(|| id_of("eos_token")),
        tokenizer,
        templates,
    })
}

/// The templates of the class's own, or of the file.
fn templates_of(tokenizer: &Tokenizer, source: &Source, class: &Class) -> Result<Templates> {
    let settings = &source.settings;
    let has_others = match source.file {
        Some(_) => tokenizer.get_post_processor().is_some(),
        None => templates::is_asked_for(settings),
    };
    match class.templates {
        Some(own) if !(class.gives_way && has_others) => {
            templates::of_keys(tokenizer, settings, own)
        }
        _ if source.file.is_some() => templates::of_post_processor(tokenizer),
        _ => templates::as_asked_for(tokenizer, settings),
    }
}

/// A tokenizer that takes these steps, one after the other.
///
/// `decoder`: how its tokens become text again.
fn of_steps(
    model: impl Into<ModelWrapper>,
    normalizers: Vec<NormalizerWrapper>,
    splitters: Vec<PreTokenizerWrapper>,
    decoder: impl Into<DecoderWrapper>,
) -> Result<Tokenizer> {
    let mut tokenizer = Tokenizer::new(model);
    let normalizer = Some(Sequence::new(normalizers));
    tokenizer.with_normalizer(normalizer).at("normalizer")?;
    tokenizer.with_pre_tokenizer(Some(Splitters::new(splitters)));
    tokenizer.with_decoder(Some(decoder));
    Ok(tokenizer)
}
