//! Words of texts as gliner2 reads them: in lower case, each tokenized alone, without special tokens. A text without
//! punctuation at its end gets a period. Source: gliner2, `processor.py` (`SchemaTransformer`) and
//! `processing/word_splitter.py` (`WhitespaceTokenSplitter`).

use std::borrow::Cow;
use std::sync::LazyLock;

use onig::Regex;

use super::Tokenizer;
use super::offsets::{EncodingWithOffsets, WindowTokens};
use super::whole_text::TEXT_ONLY;
use super::words::{self, Tokens, WordsInput};
use crate::bridge::WordsEncoding;
use errors::Result;

#[cfg(test)]
#[path = "../../tests/unit/gliner2_words.rs"]
mod tests;

/// The words except e-mail addresses, which precede all alternatives but the first group. `[a-z]` of Python's `re`
/// matches four more letters if case is ignored. The quantifiers are possessive, which accepts the same words without
/// backtracking.
static NEXT_WORD: LazyLock<Regex> = LazyLock::new(|| {
    let word = r"[\p{L}\p{N}\p{M}_\x{200c}\x{200d}]++";
    let pattern = format!(
        r"([hH][tT][tT][pP][sS\x{{17f}}]?://[^\s\x1c-\x1f]++|[wW]{{3}}\.[^\s\x1c-\x1f]++)|@[a-zA-Z\x{{130}}\x{{131}}\x{{17f}}\x{{212a}}0-9_]++|{word}(?:[-_]{word})*+|[^\s\x1c-\x1f]"
    );
    Regex::new(&pattern).expect("valid pattern")
});

/// Words of a text.
struct TextWords {
    /// Byte ranges in the text.
    ranges: Vec<(usize, usize)>,
    tokens: Tokens,
    /// Tokens of the period that follows the last word; empty: none.
    period: Vec<u32>,
}

impl Tokenizer {
    /// See `encode_words`. The period after the last word has no range, but an index in `word_starts`.
    pub(super) fn encode_gliner2_words(&self, input: &WordsInput) -> Result<WordsEncoding> {
        let mut prompt = Tokens::default();
        for word in input.prompt {
            self.push_word(word, usize::MAX, &mut prompt)?;
        }
        // A window is a text of its own, and may get a period, which can belong to its last word.
        let mut reserved = Tokens::default();
        self.push_word(".", usize::MAX, &mut reserved)?;
        let used = prompt.ids.len() + reserved.ids.len() + 1;
        let room = words::room_beside(used, self.max_length)?;
        let TextWords {
            ranges,
            mut tokens,
            period,
        } = self.read_gliner2_words(input.text)?;
        let windows = words::windows_of(&tokens.counts(), room, input);
        let mut encoding = words::encoding_of(input.text, &ranges, &windows);
        if windows.len() != 1 {
            return Ok(encoding);
        }
        encoding.truncated = tokens.ids.len() > room;
        tokens.ids.truncate(room);
        encoding.prompt_starts = words::starts_from(0, &prompt);
        encoding.extend(&prompt.ids, 0);
        encoding.word_starts = words::starts_from(encoding.input_ids.len(), &tokens);
        encoding.extend(&tokens.ids, 0);
        if !period.is_empty() {
            let start = words::to_u32(encoding.input_ids.len());
            encoding.word_starts.push(start);
            encoding.extend(&period, 0);
        }
        // Words without a token have the place of the next token.
        let last = words::to_u32(encoding.input_ids.len().saturating_sub(1));
        for start in &mut encoding.word_starts {
            *start = last.min(*start);
        }
        Ok(encoding)
    }

    /// Encodes the words of a whole text without a limit. The offsets of a token are those of its word, in bytes.
    pub fn encode_text_by_words(&self, text: &str) -> Result<EncodingWithOffsets> {
        let TextWords {
            ranges,
            tokens,
            period,
        } = self.read_gliner2_words(text)?;
        let mut contents = WindowTokens {
            offsets: Vec::with_capacity(2 * (tokens.ids.len() + period.len())),
            ids: Vec::new(),
        };
        let ends = (text.len(), text.len());
        let counts = tokens.counts().into_iter().zip(ranges);
        for (count, (begin, end)) in counts.chain([(words::to_u32(period.len()), ends)]) {
            for _ in 0..count {
                contents
                    .offsets
                    .extend([words::to_u32(begin), words::to_u32(end)]);
            }
        }
        contents.ids = tokens.ids;
        contents.ids.extend(period);
        let mut encoding = EncodingWithOffsets::default();
        encoding.push(&TEXT_ONLY, &[contents, WindowTokens::default()]);
        Ok(encoding)
    }

    fn read_gliner2_words(&self, text: &str) -> Result<TextWords> {
        let complete = complete(text);
        let mut ranges = split(&complete);
        let mut tokens = Tokens::default();
        for &(begin, end) in &ranges {
            self.push_word(
                &complete[begin..end].to_lowercase(),
                usize::MAX,
                &mut tokens,
            )?;
        }
        let mut period = Vec::new();
        if ranges.last().is_some_and(|&(begin, _)| begin == text.len()) {
            ranges.pop();
            period = tokens.pop();
        }
        // The period can also belong to the last word, a URL.
        if let Some((_, end)) = ranges.last_mut() {
            *end = text.len().min(*end);
        }
        Ok(TextWords {
            ranges,
            tokens,
            period,
        })
    }
}

/// Adds the period that gliner2 adds.
fn complete(text: &str) -> Cow<'_, str> {
    if text.ends_with(['.', '!', '?']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{text}."))
}

/// Byte ranges of the words of a text.
fn split(text: &str) -> Vec<(usize, usize)> {
    let mut emails = Emails::new(text);
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(found) = NEXT_WORD.captures(&text[from..]) {
        let Some((begin, end)) = found.pos(0) else {
            break;
        };
        let begin = from + begin;
        let email = match found.pos(1) {
            Some(_) => None, // a URL
            None => emails.end_at(begin),
        };
        from = email.unwrap_or(from + end);
        ranges.push((begin, from));
    }
    ranges
}

/// E-mail addresses: `[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}`, whatever the case. As a regular expression, it would read
/// a long run of letters and periods again from each of its words.
struct Emails<'a> {
    text: &'a str,
    /// End of the run of characters before `@` that was read last.
    run_end: usize,
    /// End of the address that continues this run.
    address_end: Option<usize>,
}

impl<'a> Emails<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            run_end: 0,
            address_end: None,
        }
    }

    /// End of the address that starts at `begin`. Calls have ascending arguments.
    fn end_at(&mut self, begin: usize) -> Option<usize> {
        if begin >= self.run_end {
            let is_local = |c| is_domain(c) || matches!(c, '_' | '%' | '+');
            self.run_end = run_end(self.text, begin, is_local);
            self.address_end = match self.text[self.run_end..].starts_with('@') {
                true if self.run_end > begin => domain_end(self.text, self.run_end + 1),
                _ => None,
            };
        }
        self.address_end.filter(|_| begin < self.run_end)
    }
}

/// End of the longest domain that starts at `begin`.
fn domain_end(text: &str, begin: usize) -> Option<usize> {
    let mut longest = None;
    // Number of letters since the last period; `None`: there are other characters.
    let mut letters = None;
    for (index, c) in text[begin..].char_indices() {
        letters = match c {
            '.' if index > 0 => Some(0),
            _ if is_letter(c) => letters.map(|count: usize| count + 1),
            _ if is_domain(c) => None,
            _ => break,
        };
        if letters.is_some_and(|count| count >= 2) {
            longest = Some(begin + index + c.len_utf8());
        }
    }
    longest
}

fn run_end(text: &str, begin: usize, belongs: impl Fn(char) -> bool) -> usize {
    let rest = &text[begin..];
    begin + rest.find(|c| !belongs(c)).unwrap_or(rest.len())
}

fn is_domain(c: char) -> bool {
    is_letter(c) || c.is_ascii_digit() || matches!(c, '.' | '-')
}

/// `[a-z]` of Python's `re` with `re.IGNORECASE`.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{130}' | '\u{131}' | '\u{17f}' | '\u{212a}')
}
