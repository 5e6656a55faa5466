//! The vocabulary of a Unigram tokenizer: from tokenizer.json, else from a SentencePiece model.

use serde::Deserialize;
use serde_json::Value;
use tokenizers::AddedToken;
use tokenizers::normalizers::Precompiled;

use super::{Source, words};
use crate::error::{At, Result, anyhow, bail};
use crate::files::{self, TOKENIZER};
use crate::sentencepiece::{Model, PieceType, charsmap};

/// A SentencePiece model of this name is used by all classes before one of their own.
pub const TOKENIZER_MODEL: &str = "tokenizer.model";

pub struct Pieces {
    pub file: &'static str,
    /// (piece, score) by id.
    pub vocab: Vec<(String, f64)>,
    pub charsmap: Option<Precompiled>,
    /// The rest of the SentencePiece model, where the pieces are from one.
    pub model: Option<Model>,
}

/// `name`: the class's SentencePiece model. Its control and user-defined pieces become additional
/// tokens.
pub fn read(source: &mut Source, name: &'static str) -> Result<Pieces> {
    if let Some(model) = words::model(source)? {
        let vocab = Vec::deserialize(&model["vocab"]).map_err(|_| {
            anyhow!("{TOKENIZER}: model.vocab: expected [piece, score] pairs (Unigram)")
        })?;
        return Ok(Pieces {
            file: TOKENIZER,
            vocab,
            charsmap: first_charsmap(source)?,
            model: None,
        });
    }
    let Some((file, mut model)) = open(source, name)? else {
        bail!("{name}: not found (looked for {TOKENIZER}, {name})");
    };
    let pieces = std::mem::take(&mut model.pieces).into_iter();
    Ok(Pieces {
        file,
        vocab: pieces.map(|piece| (piece.text, piece.score)).collect(),
        charsmap: model.charsmap.take(),
        model: Some(model),
    })
}

/// (its file's name, the model)
pub fn open(source: &mut Source, name: &'static str) -> Result<Option<(&'static str, Model)>> {
    for name in [TOKENIZER_MODEL, name] {
        if let Some(bytes) = files::read(source.directory, name)? {
            let model = Model::parse(name, &bytes)?;
            let additional = model.pieces.iter().filter_map(|piece| {
                let token = |special| AddedToken::from(piece.text.as_str(), special);
                match piece.kind {
                    PieceType::Control => Some(token(true)),
                    PieceType::UserDefined => Some(token(false).normalized(false)),
                    _ => None,
                }
            });
            source.settings.special_tokens.set_additional(additional);
            return Ok(Some((name, model)));
        }
    }
    Ok(None)
}

/// That of the first "Precompiled" normalizer of tokenizer.json, which is the only one that
/// transformers keeps for these classes.
fn first_charsmap(source: &Source) -> Result<Option<Precompiled>> {
    let normalizer = source.file.and_then(|(_, file)| file.get("normalizer"));
    let candidates = match normalizer {
        Some(list) if list["type"] == "Sequence" => {
            list["normalizers"].as_array().map(Vec::as_slice)
        }
        Some(Value::Array(list)) => Some(list.as_slice()),
        single => single.map(std::slice::from_ref),
    };
    let mut candidates = candidates.into_iter().flatten();
    let found = candidates.find_map(|candidate| precompiled(candidate).transpose());
    found.transpose().at("tokenizer.json: normalizer")
}

fn precompiled(normalizer: &Value) -> Result<Option<Precompiled>> {
    let rules = &normalizer["precompiled_charsmap"];
    if normalizer["type"] != "Precompiled" || rules.is_null() {
        return Ok(None);
    }
    let Some(encoded) = rules.as_str() else {
        bail!("precompiled_charsmap: expected a string");
    };
    charsmap::parse(&base64::decode(encoded)?).map(Some)
}
