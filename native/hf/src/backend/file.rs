//! TokenizersBackend: tokenizer.json as it is, or a SentencePiece model (tokenizer.model) built as
//! convert_slow_tokenizer.py's `build_tokenizer_from_spm_proto` does.

use std::collections::HashMap;

use tokenizers::Tokenizer;
use tokenizers::models::bpe::BPE;
use tokenizers::models::unigram::Unigram;
use tokenizers::normalizers::{Replace, Sequence};
use tokenizers::{ModelWrapper, NormalizerWrapper};

use super::{Source, TOKENIZER, charsmaps, frame, patterns, pieces, set_normalizer, vocabulary};
use crate::error::{Error, Result, catch_panic};
use crate::sentencepiece::Model;

const TOKENIZER_MODEL: &str = "tokenizer.model";

/// `class`: the name of the tokenizer class, for the message.
pub fn open(source: &mut Source, class: &str) -> Result<Tokenizer> {
    match source.file {
        Some((bytes, file)) => {
            charsmaps::check_all(bytes)?;
            for key in ["normalizer", "pre_tokenizer"] {
                patterns::require_quick(key, file.get(key))
                    .map_err(|error| Error::in_file(TOKENIZER, error))?;
            }
            frame::require_known_tokens(file)?;
            // The crate panics on some files that it could refuse.
            catch_panic(|| from_bytes(bytes))
                .unwrap_or_else(|message| Err(message.into()))
                .map_err(|error| Error::in_file(TOKENIZER, error))
        }
        None if matches!(class, "TokenizersBackend" | "PreTrainedTokenizer") => {
            let Some((name, model)) = pieces::open(source, TOKENIZER_MODEL)? else {
                return Err(missing(class));
            };
            from_model(source, model).map_err(|error| Error::in_file(name, error))
        }
        None => Err(missing(class)),
    }
}

fn missing(class: &str) -> Error {
    Error::new(format!(
        "{TOKENIZER}: not found. It is needed for the tokenizer class `{class}`: load and save the \
         tokenizer with transformers to have it written"
    ))
}

fn from_bytes(bytes: &[u8]) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_bytes(bytes)?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None)?;
    // Some of its panics come with the first text (FixedLength of 0). An error may be that of a
    // vocabulary without these letters.
    let _ = tokenizer.encode_fast("A trial, 1.", false);
    Ok(tokenizer)
}

fn from_model(source: &mut Source, model: Model) -> Result<Tokenizer> {
    let special_tokens = &mut source.settings.special_tokens;
    for (key, id, piece) in [
        ("bos_token", model.bos_id, &model.bos_piece),
        ("eos_token", model.eos_id, &model.eos_piece),
        ("unk_token", model.unk_id, &model.unk_piece),
    ] {
        if id >= 0 {
            special_tokens.set_defaults(&[(key, piece)]);
        }
    }
    special_tokens.set_defaults(&[("bos_token", "<s>"), ("eos_token", "</s>")]);
    let failed = |error| Error::new(format!("{error}"));
    let mut steps: Vec<NormalizerWrapper> = Vec::new();
    steps.extend(model.charsmap.clone().map(NormalizerWrapper::from));
    steps.push(Replace::new(" ", "▁").map_err(failed)?.into());
    let built: ModelWrapper = if model.is_unigram {
        unigram(source, model)?.into()
    } else {
        byte_pair(source, model)?.into()
    };
    let mut tokenizer = Tokenizer::new(built);
    set_normalizer(&mut tokenizer, Sequence::new(steps).into())?;
    Ok(tokenizer)
}

fn unigram(source: &Source, model: Model) -> Result<Unigram> {
    if source.settings.special_tokens.added().next().is_some() {
        return Err(Error::new(
            "a Unigram model cannot take added tokens with ids of their own",
        ));
    }
    let unk_id = usize::try_from(model.unk_id)
        .map_err(|_| Error::new(format!("unk_id: {}", model.unk_id)))?;
    let vocab = model
        .pieces
        .into_iter()
        .map(|piece| (piece.text, piece.score));
    Unigram::from(vocab.collect(), Some(unk_id), model.byte_fallback)
        .map_err(|error| Error::new(error.to_string()))
}

fn byte_pair(source: &Source, model: Model) -> Result<BPE> {
    let pieces = model.pieces.iter().map(|piece| piece.text.as_str());
    let mut ids: HashMap<&str, u32> = pieces.zip(0..).collect();
    let merges = merges(&model, &ids)?;
    for (id, content) in source.settings.special_tokens.added() {
        // A place-holder of the model takes the name of the added token with its id.
        let piece = usize::try_from(id).ok().and_then(|id| model.pieces.get(id));
        let piece = piece.map(|piece| piece.text.as_str());
        let id = piece.and_then(|piece| ids.get(piece)).copied();
        if let (Some(piece), Some(id), false) = (piece, id, ids.contains_key(content)) {
            ids.remove(piece);
            ids.insert(content, id);
        }
    }
    let vocab = ids.into_iter().map(|(piece, id)| (piece.to_owned(), id));
    let vocab = vocab.collect();
    vocabulary::check_merges(TOKENIZER_MODEL, &vocab, &merges)?;
    BPE::builder()
        .vocab_and_merges(vocab, merges)
        .unk_token(model.unk_piece)
        .fuse_unk(true)
        .byte_fallback(model.byte_fallback)
        .build()
        .map_err(|error| Error::new(error.to_string()))
}

/// Each way to put a piece together from two others, in the order of the pieces.
fn merges(model: &Model, ids: &HashMap<&str, u32>) -> Result<Vec<(String, String)>> {
    /// All splits of a piece are tried: a longer one is no piece but an attack.
    const LONGEST: usize = 4096;
    let mut merges = Vec::new();
    for (index, piece) in model.pieces.iter().enumerate() {
        let text = piece.text.as_str();
        if text.len() > LONGEST {
            return Err(Error::new(format!(
                "pieces[{index}]: {} bytes, expected at most {LONGEST}",
                text.len()
            )));
        }
        if ids.get(text).copied() != u32::try_from(index).ok() {
            continue; // A later piece has the same text.
        }
        for (cut, _) in text.char_indices().skip(1) {
            let (left, right) = text.split_at(cut);
            if ids.contains_key(left) && ids.contains_key(right) {
                merges.push((left.to_owned(), right.to_owned()));
            }
        }
    }
    Ok(merges)
}
