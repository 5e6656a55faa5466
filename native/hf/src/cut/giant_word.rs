//! Part of a word that goes on behind the cut.

use std::collections::BTreeSet;

use tokenizers::models::bpe::BPE;
use tokenizers::models::unigram::Unigram;
use tokenizers::{Model, ModelWrapper, Result, Token};

use super::Side;

/// So many characters at the start of a word that was cut there may not belong to the longer word: a
/// space that was put before it, or the `ll` of `'ll`.
const FOREIGN: usize = 8;

/// The ids that any word has which starts (or ends) as `word` does.
///
/// Whatever the longer word is, some token of it ends where `word` does or goes on behind it. Up to the
/// start of that token the longer word is encoded as this much of it alone: in BPE because no merge
/// crosses a border between final tokens, in Unigram because the best path to a place depends on what
/// stands before it. Where that start can be is known from the vocabulary. What all of the candidates
/// have in common is certain.
pub fn certain_ids(model: &ModelWrapper, word: &str, side: Side) -> Result<Vec<u32>> {
    let word = match side {
        Side::Start => word,
        Side::End => {
            let start = word.char_indices().nth(FOREIGN);
            &word[start.map_or(word.len(), |(at, _)| at)..]
        }
    };
    let places = match model {
        ModelWrapper::BPE(bpe) if is_plain(bpe, word) => {
            let vocab = bpe.get_vocab();
            places(vocab.keys().map(String::as_str), word, side)
        }
        // From the right, the best path is only known up to rounding.
        ModelWrapper::Unigram(unigram) if side == Side::Start && !unigram.byte_fallback() => {
            unigram_places(unigram, word)
        }
        _ => return Ok(Vec::new()),
    };
    let mut common: Option<Vec<(u32, usize)>> = None;
    for place in places {
        let tokens = match side {
            Side::Start => from_start(model.tokenize(&word[..place])?),
            Side::End => from_end(model.tokenize(&word[place..])?),
        };
        let shared = match &common {
            None => tokens.len(),
            Some(common) => {
                let pairs = common.iter().zip(&tokens);
                pairs.take_while(|(one, other)| one == other).count()
            }
        };
        common.get_or_insert(tokens).truncate(shared);
    }
    let mut ids: Vec<u32> = common.into_iter().flatten().map(|(id, _)| id).collect();
    ids.pop(); // Unigram fuses unknown characters that follow one another.
    if side == Side::End {
        ids.reverse();
    }
    Ok(ids)
}

/// Every character is a token, so that none is dropped or fused, and a token is what it says.
fn is_plain(bpe: &BPE, word: &str) -> bool {
    let is_empty = |affix: &Option<String>| affix.as_ref().is_none_or(String::is_empty);
    let mut buffer = [0; 4];
    is_empty(&bpe.continuing_subword_prefix)
        && is_empty(&bpe.end_of_word_suffix)
        && !bpe.ignore_merges
        && word
            .chars()
            .all(|c| bpe.token_to_id(c.encode_utf8(&mut buffer)).is_some())
}

fn unigram_places(unigram: &Unigram, word: &str) -> BTreeSet<usize> {
    places(
        unigram.iter().map(|(piece, _)| piece.as_str()),
        word,
        Side::Start,
    )
}

/// Where the last token of `word` can end (or its first can start).
fn places<'a>(vocab: impl Iterator<Item = &'a str>, word: &str, side: Side) -> BTreeSet<usize> {
    let mut places = BTreeSet::new();
    match side {
        Side::Start => places.insert(word.len()),
        Side::End => places.insert(0),
    };
    for token in vocab {
        for (at, _) in token.char_indices().skip(1) {
            let (start, end) = token.split_at(at);
            match side {
                Side::Start if word.ends_with(start) => places.insert(word.len() - start.len()),
                Side::End if word.starts_with(end) => places.insert(end.len()),
                _ => false,
            };
        }
    }
    places
}

/// (id, distance of its end from the word's start)
fn from_start(tokens: Vec<Token>) -> Vec<(u32, usize)> {
    let ends = tokens.iter().map(|token| (token.id, token.offsets.1));
    ends.collect()
}

/// (id, distance of its start from the word's end), from the end
fn from_end(tokens: Vec<Token>) -> Vec<(u32, usize)> {
    let end = tokens.last().map_or(0, |token| token.offsets.1);
    let starts = tokens.iter().rev();
    starts
        .map(|token| (token.id, end - token.offsets.0))
        .collect()
}
