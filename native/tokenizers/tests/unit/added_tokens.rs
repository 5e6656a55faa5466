//! The ASCII fast path returns the crate's ids for any added tokens.

use std::path::Path;

use tokenizers::normalizers::{BertNormalizer, Sequence};
use tokenizers::{AddedToken, Tokenizer};

use super::texts::{Random, text};
use super::{normalized_by, rounds};
use crate::tokenizer::ascii_wordpiece::AsciiWordPiece;

/// Parts of added tokens: letters that the normalizer maps to ASCII, removes or expands; spaces and control characters,
/// which it replaces or removes.
const PIECES: [&str; 26] = [
    "Ü", "ü", "É", "İ", "Å", "ﬁ", "e\u{301}", "\u{301}", "中", "\u{3000}", "ß", "ſ", "K", "\t",
    "\n", " ", "\u{1}", "\u{7f}", "\0", "\u{b}", "\u{ad}", "[", "#", "a", "B", "1",
];
const ENDS: [&str; 8] = ["", "", "ber", "BER", "bung", "]", " film", "1"];

/// Words of ASCII texts that contain parts of such tokens.
const WORDS: [&str; 12] = [
    "a ", " the ", "film ", "UBER", "uber ", "bung", "1", "\n", " b", "B. ", "k", "fi",
];

fn content(random: &mut Random) -> String {
    let begin = (0..=random.below(2))
        .map(|_| *random.of(&PIECES))
        .collect::<String>();
    let end = ENDS[random.below(ENDS.len())];
    begin + end
}

fn flag(random: &mut Random) -> bool {
    random.below(2) == 0
}

/// A BERT tokenizer with a random normalizer and random added tokens.
fn tokenizer(base: &Tokenizer, random: &mut Random) -> Option<Tokenizer> {
    let mut tokenizer = base.clone();
    let strips_accents = [None, Some(true), Some(false)];
    let normalizer = BertNormalizer::new(
        flag(random),
        flag(random),
        *random.of(&strips_accents),
        random.below(3) > 0,
    );
    let steps = Sequence::new(vec![normalizer.into()]);
    tokenizer
        .with_normalizer(Some(steps))
        .expect("a normalizer");
    let tokens: Vec<AddedToken> = (0..=random.below(3))
        .map(|_| {
            AddedToken::from(content(random), flag(random))
                .normalized(random.below(4) > 0)
                .single_word(random.below(4) == 0)
                .lstrip(random.below(4) == 0)
                .rstrip(random.below(4) == 0)
        })
        .collect();
    // The crate rejects tokens whose normalized content is empty.
    tokenizer.add_tokens(tokens).ok()?;
    Some(tokenizer)
}

/// Spellings of each token: original, normalized, and in other cases.
fn spellings(tokenizer: &Tokenizer) -> Vec<String> {
    let mut own = Vec::new();
    for token in tokenizer.get_added_tokens_decoder().into_values() {
        let normalized = normalized_by(tokenizer, &token.content);
        for content in [token.content, normalized] {
            own.extend([content.to_uppercase(), content.to_lowercase(), content]);
        }
    }
    own.sort();
    own
}

#[test]
fn ascii_words_find_any_added_token() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/sentiment");
    let base = super::Tokenizer::open(&root, super::Family::Bert, 512).expect("a tokenizer");
    let random = &mut Random(20_261_126);
    let (mut read, mut found) = (0, 0);
    for _ in 0..5 * rounds() {
        let Some(tokenizer) = tokenizer(&base.inner, random) else {
            continue;
        };
        let Some(words) = AsciiWordPiece::of(&tokenizer) else {
            continue;
        };
        let own = spellings(&tokenizer);
        for _ in 0..20 {
            // Random texts are rarely ASCII.
            let text = match random.below(3) {
                0 => format!("a {} film", random.of(&own)),
                1 => (0..6).map(|_| *random.of(&WORDS)).collect(),
                _ => text(random, &own, 40),
            };
            let encoding = tokenizer.encode_fast(text.as_str(), false).expect("ids");
            let added = tokenizer.get_added_tokens_decoder();
            found += usize::from(encoding.get_ids().iter().any(|id| added.contains_key(id)));
            if let Some(ids) = words.ids(&tokenizer, &text, usize::MAX).expect("no error") {
                assert_eq!(
                    ids,
                    encoding.get_ids(),
                    "{text:?}, {added:?}, {:?}",
                    tokenizer.get_normalizer()
                );
                read += 1;
            }
        }
    }
    assert!(
        read > 5 * rounds(),
        "only {read} texts were read as ASCII words"
    );
    assert!(
        found > 10 * rounds(),
        "only {found} texts had an added token"
    );
}

/// Texts without an added token use the fast path, even if they contain its first letter.
#[test]
fn added_tokens_leave_other_texts_to_ascii_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/sentiment");
    let mut tokenizer = super::Tokenizer::open(&root, super::Family::Bert, 512)
        .expect("a tokenizer")
        .inner;
    let tokens = ["中", "ßx", "\tqua", " \u{e9}tude"]
        .map(|content| AddedToken::from(content, false).normalized(true));
    tokenizer.add_tokens(tokens).expect("tokens");
    let words = AsciiWordPiece::of(&tokenizer).expect("one of BERT");
    let reads = |text: &str| {
        words
            .ids(&tokenizer, text, usize::MAX)
            .expect("no error")
            .is_some()
    };
    assert!(reads("a film\nin two parts"));
    for text in ["quality", "every film", "caf\u{e9}"] {
        assert!(!reads(text), "{text}");
    }
}
