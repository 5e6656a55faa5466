//! Offsets are equal to those of the crate for the whole text.

use super::{
    Input, Random, Side, Tokenizer, Truncation, family, fixtures, own_texts, rounds, text,
};
use crate::tokenizer::{Family, Windows};

/// Id, start and end of each token without special tokens, in UTF-16 units.
fn expected(tokenizer: &Tokenizer, text: &str) -> Vec<(i64, u32, u32)> {
    let mut units = vec![0];
    for char in text.chars() {
        units.push(units[units.len() - 1] + char.len_utf16() as u32);
    }
    let unit = |chars: usize| units[chars.min(units.len() - 1)];
    let encoding = tokenizer.inner.encode_char_offsets(text, false);
    let encoding = encoding.expect("an encoding");
    let offsets = encoding.get_ids().iter().zip(encoding.get_offsets());
    offsets
        .map(|(id, (begin, end))| (i64::from(*id), unit(*begin), unit(*end)))
        .collect()
}

/// Tokens of the first text per window.
fn found(tokenizer: &Tokenizer, input: Input, stride: Option<usize>) -> Vec<Vec<(i64, u32, u32)>> {
    let windows = stride.map(|stride| Windows {
        stride,
        max_windows: None,
    });
    let encoding = tokenizer
        .encode_with_offsets(input, windows)
        .expect("no error");
    let (tokens, sizes) = (encoding.input_ids.len(), &encoding.window_lengths);
    assert_eq!(sizes.iter().sum::<usize>(), tokens);
    assert_eq!(
        [
            encoding.token_type_ids.len(),
            encoding.sequence_ids.len(),
            encoding.offsets.len() / 2
        ],
        [tokens; 3]
    );
    let mut windows = Vec::new();
    let mut first = 0;
    for size in sizes {
        let own = (first..first + size).filter(|i| encoding.sequence_ids[*i] == 1);
        let at = |i: usize| {
            (
                encoding.input_ids[i],
                encoding.offsets[2 * i],
                encoding.offsets[2 * i + 1],
            )
        };
        windows.push(own.map(at).collect());
        first += size;
    }
    windows
}

/// The first token may include leading white space if the tokenizer adds a prefix space.
fn same(found: &[(i64, u32, u32)], expected: &[(i64, u32, u32)]) -> bool {
    let (Some(own), Some(theirs)) = (found.first(), expected.first()) else {
        return found == expected;
    };
    found[1..] == expected[1..] && own.0 == theirs.0 && own.1 <= theirs.1
}

#[test]
fn places_are_those_of_the_whole_text() {
    for directory in fixtures() {
        let mut tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("one");
        let random = &mut Random(29_041_127);
        let own = own_texts(&tokenizer, random);
        let max = tokenizer.max_length;
        for _ in 0..rounds() / 12 {
            let size = *random.of(&[30, 300, 9000]);
            let text = text(random, &own, size);
            let whole = expected(&tokenizer, &text);
            let input = Input::from(text.as_str());
            tokenizer.max_length = usize::MAX;
            assert_eq!(
                found(&tokenizer, input, None),
                std::slice::from_ref(&whole),
                "{directory:?}: {text:?}"
            );
            tokenizer.max_length = max.min(*random.of(&[12, 40, 512]));
            for side in [Side::Start, Side::End] {
                let kept_side = Some(side);
                let cut = &found(&tokenizer, Input { kept_side, ..input }, None)[0];
                let rest = whole.len() - cut.len();
                let of_whole = match side {
                    Side::Start => &whole[..cut.len()],
                    Side::End => &whole[rest..],
                };
                assert!(same(cut, of_whole), "{directory:?}: {side:?} of {text:?}");
            }
        }
        tokenizer.max_length = max;
    }
}

#[test]
fn windows_share_so_many_tokens() {
    for directory in fixtures() {
        let mut tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("one");
        let random = &mut Random(29_041_128);
        let own = own_texts(&tokenizer, random);
        let special_token_count = crate::backend::special_token_count(&tokenizer.templates.single);
        for _ in 0..rounds() / 6 {
            let size = *random.of(&[30, 900, 3000]);
            let text = text(random, &own, size);
            let whole = expected(&tokenizer, &text);
            let room = *random.of(&[3, 10, 60]);
            tokenizer.max_length = room + special_token_count;
            let stride = random.below(room);
            let input = Input {
                kept_side: Some(Side::Start),
                ..text.as_str().into()
            };
            // Too many windows are an error, which the next test covers.
            let plain = whole.len().div_ceil(room);
            let count = 1 + whole.len().saturating_sub(room).div_ceil(room - stride);
            if count > (4 * plain).max(8) {
                too_many(&tokenizer, input, stride);
                continue;
            }
            let windows = found(&tokenizer, input, Some(stride));
            assert_eq!(windows.len(), count, "{directory:?}: {room}, {stride}");
            let mut begin = 0;
            for window in &windows {
                let end = begin + window.len();
                assert!(same(window, &whole[begin..end]), "{directory:?}: {text:?}");
                begin += room - stride;
            }
            let last = windows.last().expect("one").len() + begin - (room - stride);
            assert_eq!(last, whole.len(), "{directory:?}: {room}, {stride}");
        }
    }
}

/// Error of a text with too many windows.
fn too_many(tokenizer: &Tokenizer, input: Input, stride: usize) -> String {
    let windows = Windows {
        stride,
        max_windows: None,
    };
    let error = tokenizer
        .encode_with_offsets(input, Some(windows))
        .expect_err("too many");
    assert!(error.is::<crate::TooLong>(), "{error}");
    let error = error.to_string();
    assert!(
        error.starts_with(&format!("stride: {stride} of ")),
        "{error}"
    );
    error
}

#[test]
fn the_windows_of_a_text_hold_a_multiple_of_its_tokens() {
    let directory = fixtures()
        .into_iter()
        .find(|path| path.ends_with("bert-single-label"));
    let directory = directory.expect("a fixture");
    for max in [3, 4, 10, 66, 128, 512] {
        let tokenizer = Tokenizer::open(&directory, Family::Bert, max).expect("one");
        let room = max - crate::backend::special_token_count(&tokenizer.templates.single);
        for count in [1, room, room + 1, 4 * room + 1, 20 * room, 60 * room] {
            let text = "a ".repeat(count);
            let input = Input::from(text.as_str());
            for stride in [0, room / 2, room - 1] {
                let windows = Windows {
                    stride,
                    max_windows: None,
                };
                match tokenizer.encode_with_offsets(input, Some(windows)) {
                    Ok(encoding) => assert!(
                        encoding.window_lengths.len() <= 8.max(4 * count.div_ceil(room)),
                        "{max}, {count}, {stride}"
                    ),
                    Err(error) => {
                        assert!(stride > room / 2, "{max}, {count}, {stride}: {error}");
                        // The stride in the message is accepted.
                        let fix = error.to_string();
                        let fix = fix.rsplit("Set stride to ").next().expect("a fix");
                        let stride = fix.split(' ').next().and_then(|word| word.parse().ok());
                        let windows = Windows {
                            stride: stride.expect("a number"),
                            max_windows: None,
                        };
                        tokenizer
                            .encode_with_offsets(input, Some(windows))
                            .expect("accepted");
                    }
                }
                // With a window limit, as guardrails set it, any stride is accepted.
                let few = Windows {
                    stride,
                    max_windows: Some(3),
                };
                let encoding = tokenizer
                    .encode_with_offsets(input, Some(few))
                    .expect("no error");
                let all = 1 + count.saturating_sub(room).div_ceil(room - stride);
                assert_eq!(encoding.window_lengths.len(), all.min(3));
                assert_eq!(encoding.truncated, all > 3);
            }
        }
    }
}

#[test]
fn more_windows_than_a_text_may_have_are_not_built() {
    let directory = fixtures()
        .into_iter()
        .find(|path| path.ends_with("bert-single-label"));
    let tokenizer = Tokenizer::open(&directory.expect("a fixture"), Family::Bert, 512);
    let tokenizer = tokenizer.expect("one");
    let text = "a ".repeat(20_000);
    let error = too_many(&tokenizer, text.as_str().into(), 509);
    assert_eq!(
        error,
        "stride: 509 of 510 tokens make 19491 windows of this text of 20000 tokens, over the limit of 160. \
         Set stride to 387 or less"
    );
    // Short windows without overlap exceed the limit, too.
    let tokenizer = Tokenizer::open(
        &fixtures()
            .into_iter()
            .find(|path| path.ends_with("bert-single-label"))
            .expect("a fixture"),
        Family::Bert,
        3,
    );
    let error = too_many(&tokenizer.expect("one"), text.as_str().into(), 0);
    assert!(error.ends_with("Send a shorter text"), "{error}");
}

#[test]
fn of_two_texts_each_token_says_which() {
    let directory = fixtures()
        .into_iter()
        .find(|path| path.ends_with("bert-single-label"));
    let directory = directory.expect("a fixture");
    let tokenizer = Tokenizer::open(&directory, Family::Bert, 512).expect("one");
    let input = Input {
        text: "a 𠀀 b",
        pair: Some("\u{1f600} a"),
        truncation: Truncation::LongestFirst,
        kept_side: None,
        is_pair: false,
        max_tokens: None,
    };
    let encoding = tokenizer
        .encode_with_offsets(input, None)
        .expect("no error");
    let is_second = |(text, _): &(&u8, &[u32])| **text == 2;
    let offsets = encoding.sequence_ids.iter().zip(encoding.offsets.chunks(2));
    let second: Vec<_> = offsets
        .filter(is_second)
        .map(|(_, offsets)| offsets)
        .collect();
    assert_eq!(second.last(), Some(&&[3, 4][..]), "{encoding:?}");
    assert_eq!(
        (encoding.sequence_ids.first(), encoding.sequence_ids.last()),
        (Some(&0), Some(&0))
    );
    let long = tokenizer
        .encode_with_offsets(
            "a",
            Some(Windows {
                stride: 510,
                max_windows: None,
            }),
        )
        .expect_err("no new token");
    assert!(
        long.is::<crate::TooLong>() && long.to_string().starts_with("stride: 510"),
        "{long}"
    );
    let pair = tokenizer
        .encode_with_offsets(
            input,
            Some(Windows {
                stride: 1,
                max_windows: None,
            }),
        )
        .expect_err("two texts");
    assert!(pair.is::<crate::TooLong>(), "{pair}");
}
