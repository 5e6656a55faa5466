//! Vocabulary of Unigram tokenizers, from tokenizer.json or from a SentencePiece model.

use serde::Deserialize;
use serde_json::Value;
use tokenizers::AddedToken;
use tokenizers::normalizers::Precompiled;

use super::{Source, bert_roberta};
use crate::files::{self, TOKENIZER};
use crate::sentencepiece::{Model, PieceType, charsmap};
use errors::{At, Result, anyhow, bail};

/// SentencePiece model that all classes prefer to their own file names.
pub const TOKENIZER_MODEL: &str = "tokenizer.model";

pub struct UnigramVocabulary {
    pub file: &'static str,
    /// Pieces and scores in the order of their ids.
    pub vocab: Vec<(String, f64)>,
    pub charsmap: Option<Precompiled>,
    /// SentencePiece model without the pieces, if the vocabulary is from such a model.
    pub model: Option<Model>,
}

/// Reads the vocabulary. `name`: file name of the class's SentencePiece model, whose control and user-defined pieces
/// become additional tokens.
pub fn read(source: &mut Source, name: &'static str) -> Result<UnigramVocabulary> {
    if let Some(model) = bert_roberta::model(source)? {
        let vocab = Vec::deserialize(&model["vocab"]).map_err(|_| {
            anyhow!("{TOKENIZER}: model.vocab: expected [piece, score] pairs (Unigram)")
        })?;
        return Ok(UnigramVocabulary {
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
    Ok(UnigramVocabulary {
        file,
        vocab: pieces.map(|piece| (piece.text, piece.score)).collect(),
        charsmap: model.charsmap.take(),
        model: Some(model),
    })
}

/// Opens the SentencePiece model. Returns its file name and content.
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

/// Rules of the first "Precompiled" normalizer of tokenizer.json. transformers ignores all others for these classes.
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
