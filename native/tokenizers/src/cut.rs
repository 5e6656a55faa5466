//! Where a long text can be cut so that each side gives the same ids alone: before a single space
//! between two words, if none of the tokenizer's steps looks across one.

use std::sync::LazyLock;

use tokenizers::normalizers::Replace;
use tokenizers::normalizers::replace::ReplacePattern;
use tokenizers::{
    ModelWrapper, NormalizedString, Normalizer, NormalizerWrapper, PreTokenizerWrapper, Tokenizer,
};

/// Which end of a long text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Start,
    End,
}

/// So many spaces of a part are looked at.
const MAX_TRIED: usize = 100;

/// Of transformers' ALBERT. No match of theirs has letters in it.
pub static QUOTES: LazyLock<[Replace; 2]> = LazyLock::new(|| {
    let replace = |quotes: &str| Replace::new(quotes, "\"").expect("plain text");
    ["``", "''"].map(replace)
});

/// Of transformers' DeBERTa. A match of it has two or more spaces, or none that is a space.
pub static SPACES: LazyLock<Replace> = LazyLock::new(|| {
    let spaces = ReplacePattern::Regex(r"\s{2,}|[\n\r\t]".to_owned());
    Replace::new(spaces, " ").expect("a regular expression")
});

/// Whether `edge` cuts texts of this tokenizer so that no id changes.
pub fn is_exact(tokenizer: &Tokenizer) -> bool {
    let is_certain = match tokenizer.get_model() {
        ModelWrapper::BPE(model) => model.dropout.is_none_or(|dropout| dropout == 0.0),
        ModelWrapper::Unigram(_) | ModelWrapper::WordPiece(_) | ModelWrapper::WordLevel(_) => true,
    };
    let normalizer = tokenizer.get_normalizer();
    let splits = tokenizer.get_pre_tokenizer().is_some_and(separates_words);
    if !is_certain || !splits || !normalizer.is_none_or(is_local) {
        return false;
    }
    let mut tokens = tokenizer.get_added_tokens_decoder().into_values();
    tokens.all(|token| {
        // It neither has a space behind something else nor takes the one behind it.
        let is_word = |text: &str| !text.trim_start().contains(char::is_whitespace);
        let is_normalized_word = normalized(normalizer, &token.content);
        is_word(&token.content) && is_normalized_word.is_some_and(|t| is_word(&t)) && !token.rstrip
    })
}

/// At most `size` bytes of the kept side of `text`, and at least half as many.
pub fn edge<'a>(tokenizer: &Tokenizer, text: &'a str, size: usize, side: Side) -> Option<&'a str> {
    let is_space = |at: &usize| text.as_bytes().get(*at) == Some(&b' ');
    let is_place = |at: &usize| is_between_words(tokenizer.get_normalizer(), text, *at);
    match side {
        Side::Start => {
            let spaces = (size / 2..=size).rev().filter(is_space);
            spaces.take(MAX_TRIED).find(is_place).map(|at| &text[..at])
        }
        Side::End => {
            let spaces = (text.len() - size..=text.len() - size / 2).filter(is_space);
            spaces.take(MAX_TRIED).find(is_place).map(|at| &text[at..])
        }
    }
}

/// Whether the space at `at` stays one, alone, when the text is normalized: letters are on both sides,
/// and nothing around them composes with them.
fn is_between_words(normalizer: Option<&NormalizerWrapper>, text: &str, at: usize) -> bool {
    let (mut before, mut behind) = (text[..at].chars().rev(), text[at + 1..].chars());
    let (Some(left), Some(right)) = (before.next(), behind.next()) else {
        return false;
    };
    let is_letter = |c: char| c.is_ascii_alphanumeric() || is_base_letter(c);
    let mut outer = before.next().into_iter().chain(behind.next());
    if !is_letter(left) || !is_letter(right) || !outer.all(|c| c.is_ascii() || is_base_letter(c)) {
        return false;
    }
    let normalized = normalized(normalizer, &format!("{left} {right}"));
    let is_text = |side: &str| !side.is_empty() && !side.contains(char::is_whitespace);
    let sides = normalized.as_ref().and_then(|text| text.split_once(' '));
    sides.is_some_and(|(left, right)| is_text(left) && is_text(right))
}

/// A letter of a script with spaces between words that is a grapheme cluster by itself: no mark, no
/// jamo, and none that is prepended to the next one.
fn is_base_letter(c: char) -> bool {
    let is_in_block = matches!(c,
        '\u{c0}'..='\u{24f}' | '\u{386}'..='\u{481}' | '\u{48a}'..='\u{556}'
            | '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}' | '\u{904}'..='\u{939}'
            | '\u{ac00}'..='\u{d7a3}');
    is_in_block && c.is_alphabetic()
}

/// `None`: the normalizer fails.
pub fn normalized(normalizer: Option<&NormalizerWrapper>, text: &str) -> Option<String> {
    let mut result = NormalizedString::from(text);
    if let Some(normalizer) = normalizer {
        normalizer.normalize(&mut result).ok()?;
    }
    Some(result.get().to_owned())
}

/// Whether it looks no further than a grapheme cluster, a sequence of combining characters or the
/// matches of `QUOTES` and `SPACES`, and takes nothing from the start of a text.
fn is_local(normalizer: &NormalizerWrapper) -> bool {
    use NormalizerWrapper as N;
    match normalizer {
        N::Sequence(all) => {
            // A second one could see clusters that the first one has made.
            let of_clusters = |each: &&N| matches!(each, N::Precompiled(_) | N::Sequence(_));
            let all = all.as_ref();
            all.iter().all(is_local) && all.iter().filter(of_clusters).count() <= 1
        }
        N::BertNormalizer(_) | N::Lowercase(_) | N::Nmt(_) | N::StripAccents(_) => true,
        N::NFC(_) | N::NFD(_) | N::NFKC(_) | N::NFKD(_) | N::Precompiled(_) => true,
        N::StripNormalizer(strip) => !strip.strip_left,
        N::Replace(replace) => QUOTES.contains(replace) || *replace == *SPACES,
        N::Prepend(_) | N::ByteLevel(_) => false,
    }
}

/// One after the other.
pub fn splitters(splitter: &PreTokenizerWrapper) -> &[PreTokenizerWrapper] {
    match splitter {
        PreTokenizerWrapper::Sequence(all) => all.as_ref(),
        single => std::slice::from_ref(single),
    }
}

/// Whether no word goes on behind a space, and what a word becomes depends on nothing before it.
fn separates_words(splitter: &PreTokenizerWrapper) -> bool {
    use PreTokenizerWrapper as P;
    let splitters = splitters(splitter);
    let keeps_spaces = |each: &&P| matches!(each, P::Digits(_) | P::Punctuation(_));
    match &splitters[splitters.iter().take_while(keeps_spaces).count()..] {
        [
            P::BertPreTokenizer(_) | P::Whitespace(_) | P::WhitespaceSplit(_),
            ..,
        ] => true,
        [P::Metaspace(metaspace)] => metaspace.get_split(),
        [P::ByteLevel(bytes)] => bytes.use_regex,
        _ => false,
    }
}
