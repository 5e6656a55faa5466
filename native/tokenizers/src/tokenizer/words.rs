//! Texts that are split into words before tokenization, as `is_split_into_words` of transformers does. Models of
//! entities read a prompt and the words of a text.

use std::ops::Range;
use std::sync::LazyLock;

use onig::Regex;

use super::{EncodeOptions, Side, Tokenizer, TooLong};
use crate::backend::{Part, special_token_count};
use crate::bridge::{WordSplitter, WordsEncoding};
use errors::Result;

#[cfg(test)]
#[path = "../../tests/unit/words.rs"]
mod tests;

/// Words of gliner: `\w+(?:[-_]\w+)*|\S` with the character classes of Python's `re`, in which combining marks are no
/// word characters. The quantifiers are possessive, which accepts the same words without backtracking.
/// Source: gliner, `data_processing/tokenizer.py` (`WhitespaceTokenSplitter`).
static GLINER_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\p{L}\p{N}_]++(?:[-_][\p{L}\p{N}_]++)*+|[^\s\x1c-\x1f]").expect("valid pattern")
});

/// A text and its prompt.
pub struct WordsInput<'a> {
    /// Words before those of the text. Each is tokenized alone.
    pub prompt: &'a [String],
    pub text: &'a str,
    pub splitter: WordSplitter,
    /// Maximum number of words of a window.
    pub max_words: usize,
    /// Number of words that consecutive windows share, at most half of a window.
    pub overlap: usize,
    /// Number of rows of the embedding table. gliner adds tokens of the prompt to a tokenizer, but no rows if another
    /// encoder reads the labels: a text that contains such a token as a word loses it.
    pub rows: usize,
}

impl Tokenizer {
    /// Encodes the prompt and the words of the text, and adds special tokens. If the words are more than `max_words`,
    /// or their tokens more than the model takes, returns only the words and their windows. A window of a single word
    /// is truncated. Words without a token, such as a combining mark that the tokenizer removes, are left out. (gliner
    /// gives the following words the place of their predecessor.) Fails with `TooLong` if the prompt leaves no token
    /// for the text.
    pub fn encode_words(&self, input: &WordsInput) -> Result<WordsEncoding> {
        if input.splitter == WordSplitter::Gliner2 {
            return self.encode_gliner2_words(input);
        }
        let template = &self.templates.single;
        let mut prompt = Tokens::default();
        for word in input.prompt {
            self.push_word(word, usize::MAX, &mut prompt)?;
        }
        let special = special_token_count(template);
        let room = room_beside(special + prompt.ids.len(), self.max_length)?;
        let mut ranges = split_words(input.text, input.splitter);
        let mut words = Tokens::default();
        for &(begin, end) in &ranges {
            self.push_word(&input.text[begin..end], input.rows, &mut words)?;
        }
        words.drop_empty(&mut ranges);
        let windows = windows_of(&words.counts(), room, input);
        let mut encoding = encoding_of(input.text, &ranges, &windows);
        if windows.len() != 1 {
            return Ok(encoding);
        }
        encoding.truncated = words.ids.len() > room;
        words.ids.truncate(room);
        for part in template {
            match *part {
                Part::Id(id, kind) => encoding.push(id, kind),
                Part::Text(_, kind) => {
                    encoding.prompt_starts = starts_from(encoding.input_ids.len(), &prompt);
                    encoding.extend(&prompt.ids, kind);
                    encoding.word_starts = starts_from(encoding.input_ids.len(), &words);
                    encoding.extend(&words.ids, kind);
                }
            }
        }
        Ok(encoding)
    }

    /// Tokenizes a word alone. Tokens without a row are left out.
    pub(super) fn push_word(&self, word: &str, rows: usize, tokens: &mut Tokens) -> Result<()> {
        let options = EncodeOptions {
            room: usize::MAX,
            side: Side::Start,
            with_offsets: false,
        };
        tokens.starts.push(tokens.ids.len());
        let encoding = self.run_pipeline(word, options)?;
        let ids = encoding.get_ids().iter();
        tokens.ids.extend(ids.filter(|id| (**id as usize) < rows));
        Ok(())
    }
}

/// Tokens of consecutive words.
#[derive(Default)]
pub(super) struct Tokens {
    pub(super) ids: Vec<u32>,
    /// Index of the first token of each word.
    starts: Vec<usize>,
}

impl Tokens {
    /// Removes words without tokens, and their ranges.
    fn drop_empty(&mut self, ranges: &mut Vec<(usize, usize)>) {
        let counts = self.counts();
        let mut kept = counts.iter().map(|count| *count > 0);
        ranges.retain(|_| kept.next().unwrap_or(false));
        let mut kept = counts.iter().map(|count| *count > 0);
        self.starts.retain(|_| kept.next().unwrap_or(false));
    }

    /// Removes the last word, and returns its tokens.
    pub(super) fn pop(&mut self) -> Vec<u32> {
        let start = self.starts.pop();
        start.map_or(Vec::new(), |start| self.ids.split_off(start))
    }

    /// Number of tokens of each word.
    pub(super) fn counts(&self) -> Vec<u32> {
        let ends = self.starts.iter().copied().skip(1).chain([self.ids.len()]);
        let counts = self.starts.iter().zip(ends);
        counts.map(|(start, end)| to_u32(end - start)).collect()
    }
}

impl WordsEncoding {
    fn push(&mut self, id: i64, kind: i64) {
        self.input_ids.push(id);
        self.token_type_ids.push(kind);
    }

    pub(super) fn extend(&mut self, ids: &[u32], kind: i64) {
        self.input_ids.extend(ids.iter().map(|id| i64::from(*id)));
        self.token_type_ids.resize(self.input_ids.len(), kind);
    }
}

/// Number of tokens that a prompt leaves for the text. `used`: by the prompt.
pub(super) fn room_beside(used: usize, max_length: usize) -> Result<usize> {
    if used < max_length {
        return Ok(max_length - used);
    }
    let message = format!(
        "The labels have {used} tokens, the model takes {max_length} together with the text."
    );
    Err(TooLong(message).into())
}

/// The words and windows, without tokens. `ranges`: of the words, in bytes.
pub(super) fn encoding_of(
    text: &str,
    ranges: &[(usize, usize)],
    windows: &[Range<usize>],
) -> WordsEncoding {
    WordsEncoding {
        offsets: utf16_offsets(text, ranges),
        window_starts: windows.iter().map(|window| to_u32(window.start)).collect(),
        window_lengths: windows.iter().map(|window| to_u32(window.len())).collect(),
        ..WordsEncoding::default()
    }
}

/// Ranges of words that the model reads at once. `counts`: tokens of each word. `room`: tokens of a window.
pub(super) fn windows_of(counts: &[u32], room: usize, input: &WordsInput) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while start < counts.len() {
        let (mut end, mut tokens) = (start, 0);
        for count in counts[start..].iter().take(input.max_words.max(1)) {
            tokens += *count as usize;
            if tokens > room && end > start {
                break;
            }
            end += 1;
        }
        if let Some(last) = windows.last().filter(|last| last.end >= end) {
            start = last.end; // the shared words have too many tokens
            continue;
        }
        windows.push(start..end);
        if end == counts.len() {
            break;
        }
        start = end - input.overlap.min((end - start) / 2);
    }
    windows
}

/// Index of the first token of each word in the sequence. A word without tokens has the index of the next token.
pub(super) fn starts_from(first: usize, words: &Tokens) -> Vec<u32> {
    let starts = words.starts.iter();
    starts.map(|start| to_u32(first + start)).collect()
}

/// Byte ranges of the words of a text.
pub fn split_words(text: &str, splitter: WordSplitter) -> Vec<(usize, usize)> {
    match splitter {
        WordSplitter::Gliner => GLINER_WORDS.find_iter(text).collect(),
        _ => unreachable!("C++ passes no other value"),
    }
}

/// Start and end of each range in UTF-16 units. `ranges`: in bytes, ascending.
fn utf16_offsets(text: &str, ranges: &[(usize, usize)]) -> Vec<u32> {
    let (mut byte, mut unit) = (0, 0);
    let mut advance = |to: usize| {
        unit += text[byte..to].chars().map(char::len_utf16).sum::<usize>();
        byte = to;
        to_u32(unit)
    };
    let mut offsets = Vec::with_capacity(2 * ranges.len());
    for &(begin, end) in ranges {
        offsets.push(advance(begin));
        offsets.push(advance(end));
    }
    offsets
}

pub(super) fn to_u32(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
