//! The vocabularies: from tokenizer.json's "model", else from the files of older releases.

use serde_json::Value;

use super::{Source, TOKENIZER};
use crate::error::{Error, Result};
use crate::files;

pub type Merges = Vec<(String, String)>;

/// The map type that the crate's builders take; named through them, since the crate that defines
/// it is none of our dependencies.
pub type Vocabulary = tokenizers::models::bpe::Vocab;

/// (the file's name, vocabulary)
pub fn word_piece(source: &Source) -> Result<(&'static str, Vocabulary)> {
    if let Some(model) = model(source)? {
        return Ok((TOKENIZER, ids(TOKENIZER, "model.vocab", &model["vocab"])?));
    }
    const FILE: &str = "vocab.txt";
    let Some(bytes) = files::read(source.directory, FILE)? else {
        return Err(missing(&[FILE], "tokenizer.json, vocab.txt"));
    };
    let lines = files::lines(FILE, &bytes)?;
    let tokens = lines.map(|line| line.trim_end().to_owned());
    Ok((FILE, tokens.zip(0..).collect()))
}

/// (the file's name, vocabulary, merges)
pub fn byte_pair(source: &Source) -> Result<(&'static str, Vocabulary, Merges)> {
    if let Some(model) = model(source)? {
        let vocab = ids(TOKENIZER, "model.vocab", &model["vocab"])?;
        let merges = merges(&model["merges"])?;
        check_merges(TOKENIZER, &vocab, &merges)?;
        return Ok((TOKENIZER, vocab, merges));
    }
    const VOCAB: &str = "vocab.json";
    const MERGES: &str = "merges.txt";
    let vocab = files::read_object(source.directory, VOCAB)?;
    let merge_bytes = files::read(source.directory, MERGES)?;
    let (Some(vocab), Some(merge_bytes)) = (&vocab, &merge_bytes) else {
        let mut absent = Vec::new();
        absent.extend(vocab.is_none().then_some(VOCAB));
        absent.extend(merge_bytes.is_none().then_some(MERGES));
        return Err(missing(
            &absent,
            "tokenizer.json, or vocab.json and merges.txt",
        ));
    };
    let mut list = Merges::new();
    for (index, line) in files::lines(MERGES, merge_bytes)?.enumerate() {
        if line.starts_with("#version") {
            continue;
        }
        let Some(pair) = pair(line) else {
            return Err(Error::new(format!(
                "{MERGES}: line {}: expected two tokens with one space between them",
                index + 1
            )));
        };
        list.push(pair);
    }
    let vocab = ids(VOCAB, "top level", &Value::Object(vocab.clone()))?;
    check_merges(MERGES, &vocab, &list)?;
    Ok((MERGES, vocab, list))
}

/// The crate panics on some vocabularies that lack the result of a merge.
pub fn check_merges(file: &str, vocab: &Vocabulary, merges: &Merges) -> Result<()> {
    let known = |(left, right): &&(String, String)| vocab.contains_key(&format!("{left}{right}"));
    match merges.iter().find(|merge| !known(merge)) {
        None => Ok(()),
        Some((left, right)) => Err(Error::new(format!(
            "{file}: merge `{left} {right}`: its result is not in the vocabulary"
        ))),
    }
}

/// tokenizer.json's "model".
pub fn model<'a>(source: &Source<'a>) -> Result<Option<&'a Value>> {
    let Some((_, file)) = source.file else {
        return Ok(None);
    };
    match file.get("model") {
        Some(model) if model.is_object() => Ok(Some(model)),
        _ => Err(Error::in_file(TOKENIZER, "model: expected an object")),
    }
}

fn ids(file: &str, key: &str, vocab: &Value) -> Result<Vocabulary> {
    let Some(object) = vocab.as_object() else {
        return Err(Error::new(format!(
            "{file}: {key}: expected an object of token ids"
        )));
    };
    let mut ids = Vocabulary::with_capacity(object.len());
    for (token, id) in object {
        let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
        let Some(id) = id else {
            return Err(Error::new(format!(
                "{file}: {key}: `{token}`: expected a token id"
            )));
        };
        ids.insert(token.clone(), id);
    }
    Ok(ids)
}

fn merges(value: &Value) -> Result<Merges> {
    let problem = || {
        Error::in_file(
            TOKENIZER,
            "model.merges: expected \"a b\" strings or [\"a\", \"b\"] pairs",
        )
    };
    let list = value.as_array().ok_or_else(problem)?;
    let pairs = list.iter().map(|merge| match merge {
        Value::String(line) => pair(line),
        Value::Array(parts) => match parts.as_slice() {
            [Value::String(left), Value::String(right)] => Some((left.clone(), right.clone())),
            _ => None,
        },
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(problem)
}

fn pair(line: &str) -> Option<(String, String)> {
    let (left, right) = line.split_once(' ')?;
    (!right.contains(' ')).then(|| (left.to_owned(), right.to_owned()))
}

fn missing(names: &[&str], looked_for: &str) -> Error {
    Error::new(format!(
        "{}: not found (looked for {looked_for})",
        names.join(" and ")
    ))
}
