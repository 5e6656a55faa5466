//! Builds the tokenizer of a class as transformers 5.23 builds it (`__init__` of the classes in
//! models/*/tokenization_*.py).

use std::path::Path;

use serde_json::{Map, Value};
use tokenizers::{NormalizerWrapper, Tokenizer};

use crate::class::Class;
use crate::error::{Error, Result};
use crate::settings::Settings;

mod byte_pair;
mod charsmaps;
mod file;
mod frame;
mod patterns;
mod pieces;
mod unigram;
mod vocabulary;
mod word_piece;

pub use frame::{Frame, Part, Template};

const TOKENIZER: &str = "tokenizer.json";

pub struct Backend {
    pub tokenizer: Tokenizer,
    pub frame: Frame,
    /// Of the token that its settings name for padding.
    pub padding_id: Option<u32>,
}

/// What a tokenizer is built from.
pub struct Source<'a> {
    pub directory: &'a Path,
    /// tokenizer.json, where there is one.
    pub file: Option<(&'a [u8], &'a Map<String, Value>)>,
    pub settings: Settings,
}

pub fn build(mut source: Source, class: &Class) -> Result<Backend> {
    let mut tokenizer = match class {
        Class::Bert | Class::DistilBert => word_piece::bert(&mut source)?,
        Class::Mpnet => word_piece::mpnet(&mut source)?,
        Class::Roberta => byte_pair::roberta(&mut source)?,
        Class::Albert | Class::FNet => unigram::albert(&mut source)?,
        Class::XlmRoberta => unigram::xlm_roberta(&mut source)?,
        Class::Camembert => unigram::camembert(&mut source)?,
        Class::DebertaV2 => unigram::deberta_v2(&mut source)?,
        Class::File { name } => file::open(&mut source, name)?,
    };
    let settings = &source.settings;
    let known: Vec<_> = tokenizer.get_added_tokens_decoder().into_values().collect();
    tokenizer
        .add_tokens(settings.special_tokens.to_add(&known))
        .map_err(|error| Error::in_file("added tokens", error))?;
    tokenizer.set_encode_special_tokens(settings.flag("split_special_tokens", false)?);
    let frame = frame_of(&tokenizer, &source, class)?;
    let gives_types = settings.names_token_type_ids();
    let frame = if gives_types.unwrap_or(class.gives_token_types()) {
        frame
    } else {
        frame.without_types()
    };
    let padding = source.settings.special_tokens.standard("pad_token");
    Ok(Backend {
        padding_id: padding.and_then(|token| tokenizer.token_to_id(token)),
        tokenizer,
        frame,
    })
}

/// The templates of the classes' own, or of the file.
fn frame_of(tokenizer: &Tokenizer, source: &Source, class: &Class) -> Result<Frame> {
    let settings = &source.settings;
    let of_keys = |single, pair| frame::of_keys(tokenizer, settings, single, pair);
    let with_types = || {
        of_keys(
            "cls_token $A sep_token",
            "cls_token $A sep_token $B:1 sep_token:1",
        )
    };
    match class {
        Class::Bert | Class::DistilBert | Class::DebertaV2 => with_types(),
        Class::Mpnet | Class::Roberta => of_keys(
            "cls_token $A sep_token",
            "cls_token $A sep_token sep_token $B sep_token",
        ),
        Class::XlmRoberta | Class::Camembert => of_keys(
            "bos_token $A eos_token",
            "bos_token $A eos_token eos_token $B eos_token",
        ),
        // The only ones of these whose own template gives way to others.
        Class::Albert | Class::FNet if source.file.is_none() && !frame::is_asked_for(settings) => {
            with_types()
        }
        Class::Albert | Class::FNet | Class::File { .. } if source.file.is_none() => {
            frame::as_asked_for(tokenizer, settings)
        }
        Class::Albert | Class::FNet if tokenizer.get_post_processor().is_none() => with_types(),
        Class::Albert | Class::FNet | Class::File { .. } => frame::of_post_processor(tokenizer),
    }
}

fn set_normalizer(tokenizer: &mut Tokenizer, normalizer: NormalizerWrapper) -> Result<()> {
    tokenizer
        .with_normalizer(Some(normalizer))
        .map_err(|error| Error::in_file("normalizer", error))?;
    Ok(())
}
