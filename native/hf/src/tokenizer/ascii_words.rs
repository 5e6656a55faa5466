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
    /// Bytes that an added token may begin with in a text.
    begins_added: [bool; 256],
}

impl AsciiWords {
    /// `None`: the tokenizer is of another kind.
    pub fn of(tokenizer: &Tokenizer) -> Option<Self> {
        let normalizer = match tokenizer.get_normalizer()? {
            NormalizerWrapper::Sequence(all) => all.as_ref(),
            single => std::slice::from_ref(single),
        };
        let [NormalizerWrapper::BertNormalizer(normalizer)] = normalizer else {
            return None;
        };
        let [PreTokenizerWrapper::BertPreTokenizer(_)] =
            cut::splitters(tokenizer.get_pre_tokenizer()?)
        else {
            return None;
        };
        word_pieces(tokenizer)?;
        let mut begins_added = [false; 256];
        for token in tokenizer.get_added_tokens_decoder().into_values() {
            mark_first_bytes(&token, &mut begins_added)?;
        }
        Some(Self {
            is_lowercased: normalizer.lowercase,
            begins_added,
        })
    }

    /// All ids of a text or, of a long one, at least `limit` from its start; `None`: it may have an added token in it.
    pub fn ids(&self, tokenizer: &Tokenizer, text: &str, limit: usize) -> Result<Option<Vec<u32>>> {
        let Some(model) = word_pieces(tokenizer) else {
            return Ok(None);
        };
        if text
            .bytes()
            .any(|byte| self.begins_added[usize::from(byte)])
        {
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

/// Of what the normalizer may turn into such a token, too. `None`: there is an empty one.
fn mark_first_bytes(token: &AddedToken, marked: &mut [bool; 256]) -> Option<()> {
    let first = *token.content.as_bytes().first()?;
    marked[usize::from(first)] = true;
    if token.normalized {
        marked[usize::from(first.to_ascii_lowercase())] = true;
        marked[usize::from(first.to_ascii_uppercase())] = true;
        marked[0x80..].fill(true);
        // What is cut out before it.
        marked[..0x20].fill(true);
        marked[0x7f] = true;
    }
    Some(())
}
