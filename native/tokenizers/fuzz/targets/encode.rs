//! Fuzz target of encoding: any bytes as a text or a pair. Encoding never fails, and a limit truncates the ids of the
//! whole text.

use super::checked::{EncodeRequest, Tokenizer};
use super::fixtures::Each;
use crate::bridge::{Truncation, TruncationSide};

const HEAD: usize = 2;
/// Size in bytes from which texts are truncated early.
const LONG: usize = 5000;

/// Bits of the second byte: pair, truncation strategy, truncation side.
const IS_PAIR: u8 = 0x40;
const TRUNCATION: std::ops::Range<u32> = 2..4;
const SIDE: std::ops::Range<u32> = 4..6;

/// The first two bytes select the tokenizer, the limit and the number of texts. Each text is encoded as it is, and
/// repeated so that it is truncated early.
pub fn encode(data: &[u8]) {
    static TOKENIZERS: Each<[Tokenizer; 3]> = Each::new();
    let Some((head, text)) = data.split_at_checked(HEAD) else {
        return;
    };
    let (name, [whole, short, shorter]) = TOKENIZERS.get(head[0], |directory, family| {
        let open = |limit| Tokenizer::open(directory, family, limit).expect("a fixture");
        let mut shorter = open(usize::MAX);
        shorter.limit_positions(7).expect("room for text");
        [open(1 << 40), open(64), shorter]
    });
    let limited = if head[1] & 1 == 0 { short } else { shorter };
    let lossy = String::from_utf8_lossy(text);
    let repeats = LONG / text.len().max(1) + 1;
    let seam: &[u8] = if head[1] & 2 == 0 { b"" } else { b" " };
    let long = [text, seam].concat().repeat(repeats);
    if head[1] & IS_PAIR != 0 {
        let bits = |range: std::ops::Range<u32>| head[1] >> range.start & 3;
        let (first, second) = text.split_at(text.len() / 2);
        for (text, pair) in [
            (first, second),
            (&long, second),
            (first, &long),
            (&long, &long),
        ] {
            let request = EncodeRequest {
                pair,
                truncation: Truncation {
                    repr: bits(TRUNCATION),
                },
                side: TruncationSide {
                    repr: bits(SIDE) % 3,
                },
            };
            Pair { text, request }.check(whole, limited, name);
        }
        return;
    }
    for text in [text, &long] {
        let all = whole.encode(text).expect("no failure");
        let some = limited.encode(text).expect("no failure");
        assert_eq!(all.input_ids.len(), all.token_type_ids.len());
        let fits = all.input_ids.len() <= limited.max_length();
        assert_eq!(some.truncated, all.truncated || !fits, "{name}: {lossy:?}");
        if fits {
            assert_eq!(some.input_ids, all.input_ids, "{name}: {lossy:?}");
        }
        let special_token_count = whole.encode(b"").expect("no failure").input_ids.len();
        let is_kept = |before| {
            is_part(
                &some.input_ids,
                &all.input_ids,
                (before, special_token_count - before),
            )
        };
        assert!((0..=special_token_count).any(is_kept), "{name}: {lossy:?}");
    }
    let valid = whole.encode(lossy.as_bytes()).expect("no failure");
    assert_eq!(
        whole.encode(text).expect("no failure"),
        valid,
        "{name}: {lossy:?}"
    );
}

/// True if both have the same special tokens, `before` and `after`, and the content of `some` is the start or end of
/// the content of `all`.
fn is_part(some: &[i64], all: &[i64], (before, after): (usize, usize)) -> bool {
    let content = |ids: &[i64]| ids[before..ids.len() - after].to_vec();
    let (some_content, all_content) = (content(some), content(all));
    let is_end = all_content.starts_with(&some_content) || all_content.ends_with(&some_content);
    is_end && some[..before] == all[..before] && some.ends_with(&all[all.len() - after..])
}

struct Pair<'a> {
    text: &'a [u8],
    request: EncodeRequest<'a>,
}

impl Pair<'_> {
    fn check(&self, whole: &Tokenizer, limited: &Tokenizer, name: &str) {
        let Self { text, request } = *self;
        let case = || {
            let [text, pair] = [text, request.pair].map(String::from_utf8_lossy);
            let (truncation, side) = (request.truncation, request.side);
            format!("{name}: {truncation:?}, {side:?}: {text:?} and {pair:?}")
        };
        let pair = request.pair;
        let wholes = [b"", text, pair].map(|text| whole.encode(text).expect("no failure"));
        if wholes.iter().any(|whole| whole.truncated) {
            return; // The configuration limits the length.
        }
        let [special_token_count, first, second] = wholes.map(|whole| whole.input_ids.len());
        let counts = [first - special_token_count, second - special_token_count];
        let all = whole.encode_request(
            text,
            EncodeRequest {
                pair,
                ..EncodeRequest::default()
            },
        );
        let all = all.expect("no failure");
        if all.truncated {
            return;
        }
        let added = all.input_ids.len() - counts[0] - counts[1];
        let kept = match limited.max_length().checked_sub(added) {
            Some(room) => request.truncation.kept_counts(counts, room).ok(),
            None => None,
        };
        let some = limited.encode_request(text, request);
        let (some, kept) = match (some, kept) {
            (Ok(some), Some(kept)) => (some, kept),
            (some, kept) => {
                assert_eq!(some.is_ok(), kept.is_some(), "{}", case());
                return;
            }
        };
        assert_eq!(some.truncated, kept != counts, "{}", case());
        let positions =
            (0..=added).flat_map(|before| (0..=added - before).map(move |mid| (before, mid)));
        let is_same = |ids: &[i64], all: &[i64]| {
            positions.clone().any(|position| {
                let from_right = cut(all, counts, kept, (position, true)) == ids;
                let from_left = cut(all, counts, kept, (position, false)) == ids;
                match request.side {
                    TruncationSide::Right => from_right,
                    TruncationSide::Left => from_left,
                    _ => from_right || from_left,
                }
            })
        };
        assert!(is_same(&some.input_ids, &all.input_ids), "{}", case());
        assert!(
            is_same(&some.token_type_ids, &all.token_type_ids),
            "{}",
            case()
        );
    }
}

/// Removes tokens of a pair. `before`: number of special tokens before the first text; `mid`: between the texts.
fn cut(
    all: &[i64],
    counts: [usize; 2],
    kept: [usize; 2],
    ((before, mid), from_right): ((usize, usize), bool),
) -> Vec<i64> {
    let starts = [before, before + counts[0] + mid];
    let end = starts[1] + counts[1];
    let content = |text: usize| {
        let start = starts[text]
            + if from_right {
                0
            } else {
                counts[text] - kept[text]
            };
        &all[start..start + kept[text]]
    };
    let middle = &all[starts[0] + counts[0]..starts[1]];
    [&all[..before], content(0), middle, content(1), &all[end..]].concat()
}
