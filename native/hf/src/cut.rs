//! Encoding no more of a long text than its limit needs, with the ids that the whole text would give.
//!
//! A part of the text is split into words as usual. It ends at a seam (`seam`), so its words are
//! those of the whole text, but for the last few, which may go on behind the cut. When the words that
//! are certain give more ids than there is room for, nothing else can matter. A text of which that
//! cannot be shown is encoded whole.

use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::{
    Model, ModelWrapper, PreTokenizedString, PreTokenizer, PreTokenizerWrapper, Tokenizer,
};
use tokenizers::{OffsetReferential, OffsetType};

use crate::error::{Error, Result};

mod condense;
mod giant_word;
mod seam;

use condense::Condense;
use seam::Seams;

#[cfg(test)]
pub use giant_word::certain_ids as certain_of_word;

/// Which end of a long text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Start,
    End,
}

/// At most so many words at a cut differ from the whole text's: `'` and `l` of `'ll`, and what the
/// rest of a word looks like to GPT-2's pattern when its start is cut off.
const UNCERTAIN_WORDS: usize = 4;

/// Words from this size on, in bytes, are looked into; up to the other one, because it takes several
/// times what encoding them does.
const GIANT_WORD: std::ops::Range<usize> = 64..64 * 1024;

pub struct Cutting {
    seams: Seams,
    condense: Option<Condense>,
}

impl Cutting {
    /// `None`: something in the tokenizer may look at all of a text.
    pub fn of(tokenizer: &Tokenizer) -> Option<Self> {
        let mut splitters = Vec::new();
        if let Some(splitter) = tokenizer.get_pre_tokenizer() {
            flatten(splitter, &mut splitters);
        }
        let (last, others) = match splitters.split_last() {
            Some((last, others)) => (Some(*last), others),
            None => (None, &[][..]),
        };
        let splits_locally = others.iter().all(|splitter| is_local(splitter))
            && last.is_none_or(|last| is_local(last) || is_byte_level(last));
        let is_certain = match tokenizer.get_model() {
            ModelWrapper::BPE(model) => model.dropout.is_none_or(|dropout| dropout == 0.0),
            ModelWrapper::Unigram(_) | ModelWrapper::WordPiece(_) | ModelWrapper::WordLevel(_) => {
                true
            }
        };
        if !splits_locally || !is_certain {
            return None;
        }
        Some(Self {
            seams: Seams::of(tokenizer)?,
            condense: Condense::of(tokenizer),
        })
    }

    /// At least `room` + 1 ids of the kept side, or all. `None`: only the whole text will tell.
    pub fn ids(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        room: usize,
        side: Side,
    ) -> Result<Option<Vec<u32>>> {
        let wanted = room.saturating_add(1).saturating_mul(8).max(4096);
        self.ids_of_parts(tokenizer, (text, room, side), wanted)
    }

    /// `wanted`: the size of the first part, in bytes.
    pub fn ids_of_parts(
        &self,
        tokenizer: &Tokenizer,
        (text, room, side): (&str, usize, Side),
        mut wanted: usize,
    ) -> Result<Option<Vec<u32>>> {
        while wanted < text.len() {
            let part = match &self.condense {
                None => edge(text, wanted, side).to_owned(),
                Some(condense) => match condense.edge(text, wanted, side) {
                    condense::Edge::Part(part) => part,
                    condense::Edge::All(all) => return encode(tokenizer, &all).map(Some),
                },
            };
            if let Some(part) = self.part(&part, side) {
                let ids = certain_ids(tokenizer, part, room, side)?;
                if ids.len() > room {
                    return Ok(Some(ids));
                }
            }
            wanted = wanted.saturating_mul(4);
        }
        Ok(None)
    }

    /// `text` up to a seam on the side that is not kept.
    pub fn part<'a>(&self, text: &'a str, side: Side) -> Option<&'a str> {
        self.seams.cut(text, side)
    }
}

/// All ids of a text, without special tokens.
pub fn encode(tokenizer: &Tokenizer, text: &str) -> Result<Vec<u32>> {
    // "fast": without the offsets into the text, which nothing needs.
    let encoding = tokenizer.encode_fast(text, false).map_err(failed)?;
    Ok(encoding.get_ids().to_vec())
}

/// So many bytes of the kept side, or a few less.
fn edge(text: &str, wanted: usize, side: Side) -> &str {
    let is_boundary = |index: &usize| text.is_char_boundary(*index);
    match side {
        Side::Start => &text[..(0..=wanted).rev().find(is_boundary).unwrap_or(0)],
        Side::End => {
            let start = text.len() - wanted;
            &text[(start..).find(is_boundary).unwrap_or(text.len())..]
        }
    }
}

/// The ids of `part` that the whole text has too, from its kept end on: more than `room`, or as many
/// as there are.
fn certain_ids(tokenizer: &Tokenizer, part: &str, room: usize, side: Side) -> Result<Vec<u32>> {
    let split = split(tokenizer, part)?;
    let mut words: Vec<Word> = split
        .get_splits(OffsetReferential::Original, OffsetType::None)
        .into_iter()
        .map(|(text, _, tokens)| match tokens {
            Some(added) => Word::Added(added.iter().map(|token| token.id).collect()),
            None => Word::Text(text),
        })
        .collect();
    if side == Side::End {
        words.reverse();
    }
    let model = tokenizer.get_model();
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut count = 0;
    let giant = words.last().and_then(Word::giant);
    let uncertain = if giant.is_some() { 1 } else { UNCERTAIN_WORDS };
    for word in words.iter().take(words.len().saturating_sub(uncertain)) {
        let ids = word.ids(model)?;
        count += ids.len();
        parts.push(ids);
        if count > room {
            break;
        }
    }
    if let (Some(giant), true) = (giant, count <= room) {
        parts.push(giant_word::certain_ids(model, giant, side).map_err(failed)?);
    }
    if side == Side::End {
        parts.reverse();
    }
    Ok(parts.concat())
}

enum Word<'a> {
    Text(&'a str),
    /// An added token.
    Added(Vec<u32>),
}

impl Word<'_> {
    fn giant(&self) -> Option<&str> {
        match self {
            Self::Text(text) if GIANT_WORD.contains(&text.len()) => Some(text),
            _ => None,
        }
    }

    fn ids(&self, model: &ModelWrapper) -> Result<Vec<u32>> {
        match self {
            Self::Text(text) => {
                let tokens = model.tokenize(text).map_err(failed)?;
                Ok(tokens.iter().map(|token| token.id).collect())
            }
            Self::Added(ids) => Ok(ids.clone()),
        }
    }
}

/// The words that the model encodes one by one.
fn split(tokenizer: &Tokenizer, text: &str) -> Result<PreTokenizedString> {
    let added = tokenizer.get_added_vocabulary();
    let mut split = added.extract_and_normalize(tokenizer.get_normalizer(), text);
    if let Some(splitter) = tokenizer.get_pre_tokenizer() {
        splitter.pre_tokenize(&mut split).map_err(failed)?;
    }
    Ok(split)
}

fn flatten<'a>(splitter: &'a PreTokenizerWrapper, flat: &mut Vec<&'a PreTokenizerWrapper>) {
    match splitter {
        PreTokenizerWrapper::Sequence(sequence) => {
            for each in sequence.as_ref() {
                flatten(each, flat);
            }
        }
        _ => flat.push(splitter),
    }
}

/// Whether it splits between two characters depends on these two alone.
fn is_local(splitter: &PreTokenizerWrapper) -> bool {
    match splitter {
        PreTokenizerWrapper::BertPreTokenizer(_)
        | PreTokenizerWrapper::Delimiter(_)
        | PreTokenizerWrapper::Digits(_)
        | PreTokenizerWrapper::Metaspace(_)
        | PreTokenizerWrapper::Punctuation(_)
        | PreTokenizerWrapper::Whitespace(_)
        | PreTokenizerWrapper::WhitespaceSplit(_) => true,
        PreTokenizerWrapper::ByteLevel(ByteLevel { use_regex, .. }) => !use_regex,
        PreTokenizerWrapper::Sequence(_)
        | PreTokenizerWrapper::Split(_)
        | PreTokenizerWrapper::UnicodeScripts(_)
        | PreTokenizerWrapper::FixedLength(_) => false,
    }
}

/// GPT-2's pattern, whose matches end where the kind of character changes. It is applied from the
/// left, looks one character ahead and never back.
fn is_byte_level(splitter: &PreTokenizerWrapper) -> bool {
    matches!(splitter, PreTokenizerWrapper::ByteLevel(_))
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(format!("tokenizer: {error}"))
}
