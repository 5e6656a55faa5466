//! The vocabulary of a Unigram tokenizer: from tokenizer.json, else from a SentencePiece model.

use serde_json::Value;
use tokenizers::AddedToken;
use tokenizers::normalizers::Precompiled;

use super::{Source, TOKENIZER, vocabulary};
use crate::error::{Error, Result};
use crate::files;
use crate::sentencepiece::{Model, PieceType, charsmap};

/// A SentencePiece model of this name is used by all classes before one of their own.
const TOKENIZER_MODEL: &str = "tokenizer.model";

pub struct Pieces {
    pub file: &'static str,
    /// (piece, score) by id.
    pub vocab: Vec<(String, f64)>,
    pub charsmap: Option<Precompiled>,
    /// What the SentencePiece model says, where the pieces are from one; it may be negative.
    pub model: Option<ModelFacts>,
}

#[derive(Clone, Copy)]
pub struct ModelFacts {
    pub unk_id: i32,
    pub is_unigram: bool,
}

/// `name`: the class's SentencePiece model. Its control and user-defined pieces become additional
/// tokens.
pub fn read(source: &mut Source, name: &'static str) -> Result<Pieces> {
    if let Some(model) = vocabulary::model(source)? {
        return Ok(Pieces {
            file: TOKENIZER,
            vocab: scored(&model["vocab"])?,
            charsmap: first_charsmap(source)?,
            model: None,
        });
    }
    let Some((file, model)) = open(source, name)? else {
        return Err(Error::new(format!(
            "{name}: not found (looked for {TOKENIZER}, {name})"
        )));
    };
    let facts = ModelFacts {
        unk_id: model.unk_id,
        is_unigram: model.is_unigram,
    };
    let pieces = model.pieces.into_iter();
    Ok(Pieces {
        file,
        vocab: pieces.map(|piece| (piece.text, piece.score)).collect(),
        charsmap: model.charsmap,
        model: Some(facts),
    })
}

/// (its file's name, the model)
pub fn open(source: &mut Source, name: &'static str) -> Result<Option<(&'static str, Model)>> {
    for name in [TOKENIZER_MODEL, name] {
        if let Some(bytes) = files::read(source.directory, name)? {
            let model = Model::parse(name, &bytes)?;
            let additional = additional_tokens(&model);
            source.settings.special_tokens.set_additional(additional);
            return Ok(Some((name, model)));
        }
    }
    Ok(None)
}

fn additional_tokens(model: &Model) -> Vec<AddedToken> {
    let tokens = model.pieces.iter().filter_map(|piece| match piece.kind {
        PieceType::Control => Some(AddedToken::from(piece.text.as_str(), true)),
        PieceType::UserDefined => {
            Some(AddedToken::from(piece.text.as_str(), false).normalized(false))
        }
        _ => None,
    });
    tokens.collect()
}

fn scored(vocab: &Value) -> Result<Vec<(String, f64)>> {
    let problem = || {
        Error::in_file(
            TOKENIZER,
            "model.vocab: expected [piece, score] pairs (Unigram)",
        )
    };
    let list = vocab.as_array().ok_or_else(problem)?;
    let pairs = list.iter().map(|entry| {
        let piece = entry.get(0).and_then(Value::as_str)?;
        Some((piece.to_owned(), entry.get(1).and_then(Value::as_f64)?))
    });
    pairs.collect::<Option<_>>().ok_or_else(problem)
}

/// That of the first "Precompiled" normalizer of tokenizer.json, which is the only one that
/// transformers keeps for these classes.
fn first_charsmap(source: &Source) -> Result<Option<Precompiled>> {
    let normalizer = source.file.and_then(|(_, file)| file.get("normalizer"));
    let candidates = match normalizer {
        Some(sequence) if sequence["type"] == "Sequence" => sequence["normalizers"].as_array(),
        Some(Value::Array(list)) => Some(list),
        Some(single) => return precompiled(single),
        None => None,
    };
    let mut candidates = candidates.into_iter().flatten();
    let found = candidates.find_map(|candidate| precompiled(candidate).transpose());
    found.transpose()
}

fn precompiled(normalizer: &Value) -> Result<Option<Precompiled>> {
    if normalizer["type"] != "Precompiled" || normalizer["precompiled_charsmap"].is_null() {
        return Ok(None);
    }
    let problem =
        |cause: &dyn std::fmt::Display| Error::in_file(TOKENIZER, format!("normalizer: {cause}"));
    let encoded = normalizer["precompiled_charsmap"].as_str();
    let encoded = encoded.ok_or_else(|| problem(&"precompiled_charsmap: expected a string"))?;
    let bytes = base64::decode(encoded).map_err(|error| problem(&error))?;
    let parsed = charsmap::parse(&bytes);
    parsed.map(Some).map_err(|error| problem(&error))
}
