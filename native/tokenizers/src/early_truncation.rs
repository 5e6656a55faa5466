//! Truncation of very long texts before tokenization, without a change of ids. A text is split before a single space
//! between two words, if no step of the tokenizer looks across such a space.

use std::sync::LazyLock;

use tokenizers::normalizers::Replace;
use tokenizers::normalizers::replace::ReplacePattern;
use tokenizers::{
    ModelWrapper, NormalizedString, Normalizer, NormalizerWrapper, PreTokenizerWrapper, Tokenizer,
};

/// End of a long text that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Start,
    End,
}

/// Maximum number of spaces to test per slice.
const MAX_TRIED: usize = 100;

/// Normalization of ALBERT in transformers. Matches contain no letters.
pub static QUOTES: LazyLock<[Replace; 2]> = LazyLock::new(|| {
    let replace = |quotes: &str| Replace::new(quotes, "\"").expect("plain text");
    ["``", "''"].map(replace)
});

/// Normalization of DeBERTa in transformers. Matches have several spaces, or none.
pub static SPACES: LazyLock<Replace> = LazyLock::new(|| {
    let spaces = ReplacePattern::Regex(r"\s{2,}|[\n\r\t]".to_owned());
    Replace::new(spaces, " ").expect("a regular expression")
});

/// True if `safe_slice` preserves the ids of this tokenizer.
pub fn can_truncate_early(tokenizer: &Tokenizer) -> bool {
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
        // True if a token contains no space after another character. Such a token does not span the split.
        let is_word = |text: &str| !text.trim_start().contains(char::is_whitespace);
        let is_normalized_word = normalized(normalizer, &token.content);
        is_word(&token.content) && is_normalized_word.is_some_and(|t| is_word(&t)) && !token.rstrip
    })
}

/// Returns a slice at the kept side of `text`: at most `size` bytes, and at least half of `size`. `None`: no safe
/// position was found.
pub fn safe_slice<'a>(
    tokenizer: &Tokenizer,
    text: &'a str,
    size: usize,
    side: Side,
) -> Option<&'a str> {
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

/// True if the space at `at` remains exactly one space after normalization: letters surround it, and no neighbor
/// composes with them.
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

/// True for a letter of a script that separates words by spaces, if the letter is a grapheme cluster of its own: no
/// mark, no jamo, no prepended character.
fn is_base_letter(c: char) -> bool {
    let is_in_block = matches!(c,
        '\u{c0}'..='\u{24f}' | '\u{386}'..='\u{481}' | '\u{48a}'..='\u{556}'
            | '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}' | '\u{904}'..='\u{939}'
            | '\u{ac00}'..='\u{d7a3}');
    is_in_block && c.is_alphabetic()
}

/// Normalized text, or `None` if the normalizer fails.
pub fn normalized(normalizer: Option<&NormalizerWrapper>, text: &str) -> Option<String> {
    let mut result = NormalizedString::from(text);
    if let Some(normalizer) = normalizer {
        normalizer.normalize(&mut result).ok()?;
    }
    Some(result.get().to_owned())
}

/// True if a normalizer looks no further than a grapheme cluster, a sequence of combining characters or a match of
/// `QUOTES` or `SPACES`, and does not strip the start of a text.
fn is_local(normalizer: &NormalizerWrapper) -> bool {
    use NormalizerWrapper as N;
    match normalizer {
        N::Sequence(all) => {
            // A second clusterwise normalizer could see clusters that the first one created.
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

/// Pre-tokenizers of a sequence, or the single one.
pub fn pre_tokenizers(splitter: &PreTokenizerWrapper) -> &[PreTokenizerWrapper] {
    match splitter {
        PreTokenizerWrapper::Sequence(all) => all.as_ref(),
        single => std::slice::from_ref(single),
    }
}

/// True if no word spans a space, and the tokens of a word do not depend on preceding text.
fn separates_words(splitter: &PreTokenizerWrapper) -> bool {
    use PreTokenizerWrapper as P;
    let pre_tokenizers = pre_tokenizers(splitter);
    let keeps_spaces = |each: &&P| matches!(each, P::Digits(_) | P::Punctuation(_));
    match &pre_tokenizers[pre_tokenizers.iter().take_while(keeps_spaces).count()..] {
        [
            P::BertPreTokenizer(_) | P::Whitespace(_) | P::WhitespaceSplit(_),
            ..,
        ] => true,
        [P::Metaspace(metaspace)] => metaspace.get_split(),
        [P::ByteLevel(bytes)] => bytes.use_regex,
        _ => false,
    }
}
