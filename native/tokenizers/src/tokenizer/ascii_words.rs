//! The ids of ASCII words to a tokenizer of BERT. What such a word is normalized and split to follows from its bytes,
//! and most are tokens of the vocabulary; what is made for any text, of each character and each word, takes thirteen times as
//! long. Words with anything else in them go that way, one by one: nothing of it looks beyond a space.

use tokenizers::models::wordpiece::WordPiece;
use tokenizers::{
    AddedToken, Model, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer,
};

use crate::cut;
use crate::error::{At, Result};

use super::contents::PLACE;

/// Longer words are left to the model.
const LONGEST: usize = 64;

/// How a tokenizer of BERT reads ASCII.
pub(crate) struct AsciiWords {
    is_lowercased: bool,
    /// Bytes of which one is in every text that has an added token in it.
    marks_added: [bool; 256],
}

impl AsciiWords {
    /// `None`: the tokenizer is of another kind.
    pub fn of(tokenizer: &Tokenizer) -> Option<Self> {
        let normalizer = tokenizer.get_normalizer()?;
        let steps = match normalizer {
            NormalizerWrapper::Sequence(all) => all.as_ref(),
            single => std::slice::from_ref(single),
        };
        let is_lowercased = match steps {
            [NormalizerWrapper::BertNormalizer(step)] => step.lowercase,
            [
                NormalizerWrapper::Lowercase(_),
                NormalizerWrapper::BertNormalizer(_),
            ] => true,
            _ => return None,
        };
        let [PreTokenizerWrapper::BertPreTokenizer(_)] =
            cut::splitters(tokenizer.get_pre_tokenizer()?)
        else {
            return None;
        };
        word_pieces(tokenizer)?;
        let mut marks_added = [false; 256];
        let sources = Sources::of(normalizer)?;
        for token in tokenizer.get_added_tokens_decoder().into_values() {
            mark_bytes(&token, &sources, &mut marks_added)?;
        }
        Some(Self {
            is_lowercased,
            marks_added,
        })
    }

    /// All ids of a text or, of a long one, at least `limit` from its start; `None`: it may have an added token in it.
    pub fn ids(&self, tokenizer: &Tokenizer, text: &str, limit: usize) -> Result<Option<Vec<u32>>> {
        let Some(model) = word_pieces(tokenizer) else {
            return Ok(None);
        };
        if text.bytes().any(|byte| self.marks_added[usize::from(byte)]) {
            return Ok(None);
        }
        let mut ids = Vec::with_capacity(limit.min(text.len() / 4 + 1));
        for chunk in text.split([' ', '\t', '\n', '\r']) {
            if ids.len() >= limit {
                break;
            }
            if chunk.bytes().all(|byte| byte.is_ascii_graphic()) {
                self.push_words(model, chunk, &mut ids)?;
            } else {
                push_any(tokenizer, chunk, &mut ids)?;
            }
        }
        Ok(Some(ids))
    }

    /// Of letters and digits together, and of each other character alone.
    fn push_words(&self, model: &WordPiece, chunk: &str, ids: &mut Vec<u32>) -> Result<()> {
        let mut rest = chunk;
        while !rest.is_empty() {
            let letters = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let (word, behind) = rest.split_at(letters.max(1));
            self.push_word(model, word, ids)?;
            rest = behind;
        }
        Ok(())
    }

    fn push_word(&self, model: &WordPiece, word: &str, ids: &mut Vec<u32>) -> Result<()> {
        let mut lowercased = [0; LONGEST];
        let word = match lowercased.get_mut(..word.len()) {
            Some(bytes) if self.is_lowercased => {
                bytes.copy_from_slice(word.as_bytes());
                bytes.make_ascii_lowercase();
                std::str::from_utf8(bytes).at(PLACE)?
            }
            Some(_) => word,
            None if self.is_lowercased => {
                return push_pieces(model, &word.to_ascii_lowercase(), ids);
            }
            None => return push_pieces(model, word, ids),
        };
        // The model looks for the longest piece first.
        match model.token_to_id(word) {
            Some(id) if word.len() <= model.max_input_chars_per_word => ids.push(id),
            _ => push_pieces(model, word, ids)?,
        }
        Ok(())
    }
}

fn word_pieces(tokenizer: &Tokenizer) -> Option<&WordPiece> {
    match tokenizer.get_model() {
        ModelWrapper::WordPiece(model) => Some(model),
        _ => None,
    }
}

fn push_pieces(model: &WordPiece, word: &str, ids: &mut Vec<u32>) -> Result<()> {
    let pieces = model.tokenize(word).at(PLACE)?;
    ids.extend(pieces.iter().map(|piece| piece.id));
    Ok(())
}

/// Of any text that has no added token in it.
fn push_any(tokenizer: &Tokenizer, text: &str, ids: &mut Vec<u32>) -> Result<()> {
    let encoding = tokenizer.encode_fast(text, false).at(PLACE)?;
    ids.extend_from_slice(encoding.get_ids());
    Ok(())
}

/// The bytes of which one is in every text that has the token in it. `None`: such texts cannot be told by their bytes.
///
/// The crate looks for a token that is normalized by its normalized content, in the normalized text.
fn mark_bytes(token: &AddedToken, sources: &Sources, marked: &mut [bool; 256]) -> Option<()> {
    if !token.normalized {
        let first = *token.content.as_bytes().first()?;
        marked[usize::from(first)] = true;
        return Some(());
    }
    // Any character that is not ASCII may become any letter.
    marked[0x80..].fill(true);
    let content = cut::normalized(Some(sources.normalizer), &token.content)?;
    if !content.is_ascii() {
        return Some(()); // ASCII never becomes anything else.
    }
    // All of its bytes are in such a text: one that is in few others says most.
    let mut letters = content.bytes().filter(|byte| *byte != b' ');
    let byte = letters.next().or_else(|| content.bytes().next())?;
    for (source, normalized) in sources.ascii.iter().enumerate() {
        marked[source] |= normalized.as_bytes().contains(&byte);
    }
    Some(())
}

/// What a normalizer makes of each ASCII character.
struct Sources<'a> {
    normalizer: &'a NormalizerWrapper,
    ascii: Vec<String>,
}

impl<'a> Sources<'a> {
    fn of(normalizer: &'a NormalizerWrapper) -> Option<Self> {
        let ascii = (0..0x80_u8).map(|byte| {
            let text = char::from(byte).to_string();
            cut::normalized(Some(normalizer), &text)
        });
        let ascii = ascii.collect::<Option<_>>()?;
        Some(Self { normalizer, ascii })
    }
}
