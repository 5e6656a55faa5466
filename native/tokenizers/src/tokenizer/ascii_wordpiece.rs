//! Fast path of BERT tokenizers for ASCII words. Normalization and splits of such a word follow from its bytes, and
//! most words are tokens of the vocabulary. The general pipeline works per character and per word, and takes thirteen
//! times as long. Words with other characters use that pipeline one by one, because no step of it looks across a space.

use tokenizers::models::wordpiece::WordPiece;
use tokenizers::{
    AddedToken, Model, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer,
};

use crate::early_truncation;
use errors::{At, Result};

use super::short_words::ShortWords;
use super::text_encoding::ERROR_PREFIX;

/// Maximum word length in bytes; longer words are encoded by the model.
const MAX_LENGTH: usize = 64;

/// Properties of a BERT tokenizer for ASCII texts.
pub(crate) struct AsciiWordPiece {
    is_lowercased: bool,
    short_words: ShortWords,
    /// Bytes at least one of which occurs in every text that contains an added token.
    marks_added: [bool; 256],
}

impl AsciiWordPiece {
    /// Returns `None` if the tokenizer is not a BERT tokenizer.
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
            early_truncation::pre_tokenizers(tokenizer.get_pre_tokenizer()?)
        else {
            return None;
        };
        let short_words = ShortWords::of(word_pieces(tokenizer)?);
        let mut marks_added = [false; 256];
        let sources = Sources::of(normalizer)?;
        for token in tokenizer.get_added_tokens_decoder().into_values() {
            mark_bytes(&token, &sources, &mut marks_added)?;
        }
        Some(Self {
            is_lowercased,
            short_words,
            marks_added,
        })
    }

    /// Ids of a text, or of a long text at least the first `limit` ids. `None` if the text may contain an added token.
    pub fn ids(&self, tokenizer: &Tokenizer, text: &str, limit: usize) -> Result<Option<Vec<u32>>> {
        let Some(model) = word_pieces(tokenizer) else {
            return Ok(None);
        };
        if text.bytes().any(|byte| self.marks_added[usize::from(byte)]) {
            return Ok(None);
        }
        let mut ids = Vec::with_capacity(limit.min(text.len() / 4 + 1));
        let mut rest = Some(text);
        while let Some(text) = rest.filter(|_| ids.len() < limit) {
            let space = text
                .bytes()
                .position(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
            let chunk = &text[..space.unwrap_or(text.len())];
            rest = space.map(|at| &text[at + 1..]);
            if chunk.bytes().all(|byte| byte.is_ascii_graphic()) {
                self.push_words(model, chunk, &mut ids)?;
            } else {
                push_any(tokenizer, chunk, &mut ids)?;
            }
        }
        Ok(Some(ids))
    }

    /// Adds the ids of a chunk without spaces. Letters and digits form words; every other character is a word of its
    /// own.
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
        if let Some(key) = ShortWords::key(word, self.is_lowercased) {
            if let Some(id) = self.short_words.id(key) {
                ids.push(id);
                return Ok(());
            }
        }
        let mut lowercased = [0; MAX_LENGTH];
        let word = match lowercased.get_mut(..word.len()) {
            Some(bytes) if self.is_lowercased => {
                bytes.copy_from_slice(word.as_bytes());
                bytes.make_ascii_lowercase();
                std::str::from_utf8(bytes).at(ERROR_PREFIX)?
            }
            Some(_) => word,
            None if self.is_lowercased => {
                return push_pieces(model, &word.to_ascii_lowercase(), ids);
            }
            None => return push_pieces(model, word, ids),
        };
        // The model tries the longest piece first.
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
    let pieces = model.tokenize(word).at(ERROR_PREFIX)?;
    ids.extend(pieces.iter().map(|piece| piece.id));
    Ok(())
}

/// Adds the ids of any text without added tokens.
fn push_any(tokenizer: &Tokenizer, text: &str, ids: &mut Vec<u32>) -> Result<()> {
    let encoding = tokenizer.encode_fast(text, false).at(ERROR_PREFIX)?;
    ids.extend_from_slice(encoding.get_ids());
    Ok(())
}

/// Marks bytes at least one of which occurs in every text that contains the token. `None` if no such bytes exist.
///
/// The crate searches the normalized text for the normalized content of tokens with `normalized: true`.
fn mark_bytes(token: &AddedToken, sources: &Sources, marked: &mut [bool; 256]) -> Option<()> {
    if !token.normalized {
        let first = *token.content.as_bytes().first()?;
        marked[usize::from(first)] = true;
        return Some(());
    }
    // A character outside ASCII may be normalized to any letter.
    marked[0x80..].fill(true);
    let content = early_truncation::normalized(Some(sources.normalizer), &token.content)?;
    if !content.is_ascii() {
        return Some(()); // ASCII texts do not contain the token
    }
    // All bytes of the content occur in such a text. The first byte other than a space occurs in the fewest other
    // texts.
    let mut letters = content.bytes().filter(|byte| *byte != b' ');
    let byte = letters.next().or_else(|| content.bytes().next())?;
    for (source, normalized) in sources.ascii.iter().enumerate() {
        marked[source] |= normalized.as_bytes().contains(&byte);
    }
    Some(())
}

/// Normalized form of each ASCII character.
struct Sources<'a> {
    normalizer: &'a NormalizerWrapper,
    ascii: Vec<String>,
}

impl<'a> Sources<'a> {
    fn of(normalizer: &'a NormalizerWrapper) -> Option<Self> {
        let ascii = (0..0x80_u8).map(|byte| {
            let text = char::from(byte).to_string();
            early_truncation::normalized(Some(normalizer), &text)
        });
        let ascii = ascii.collect::<Option<_>>()?;
        Some(Self { normalizer, ascii })
    }
}
