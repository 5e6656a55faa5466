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

pub use frame::Frame;

const TOKENIZER: &str = "tokenizer.json";

pub struct Backend {
    pub tokenizer: Tokenizer,
    pub frame: Frame,
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
        Class::Bert => word_piece::bert(&mut source)?,
        Class::Mpnet => word_piece::mpnet(&mut source)?,
        Class::Roberta => byte_pair::roberta(&mut source)?,
        Class::Albert => unigram::albert(&mut source)?,
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
    let frame = match class {
        Class::Bert | Class::Mpnet | Class::Roberta | Class::DebertaV2 => {
            frame::around(&tokenizer, settings, &["cls_token"], &["sep_token"])
        }
        Class::XlmRoberta | Class::Camembert => {
            frame::around(&tokenizer, settings, &["bos_token"], &["eos_token"])
        }
        // The only class of these whose own template gives way to others.
        Class::Albert if source.file.is_none() && !frame::is_asked_for(settings) => {
            frame::around(&tokenizer, settings, &["cls_token"], &["sep_token"])
        }
        Class::Albert | Class::File { .. } if source.file.is_none() => {
            frame::as_asked_for(&tokenizer, settings)
        }
        Class::Albert if tokenizer.get_post_processor().is_none() => {
            frame::around(&tokenizer, settings, &["cls_token"], &["sep_token"])
        }
        Class::Albert | Class::File { .. } => frame::of_post_processor(&tokenizer, settings),
    }?;
    Ok(Backend { tokenizer, frame })
}

fn set_normalizer(tokenizer: &mut Tokenizer, normalizer: NormalizerWrapper) -> Result<()> {
    tokenizer
        .with_normalizer(Some(normalizer))
        .map_err(|error| Error::in_file("normalizer", error))?;
    Ok(())
}
