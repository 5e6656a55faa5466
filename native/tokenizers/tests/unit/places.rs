//! Places of tokens are those that the crate gives for the whole text.

use super::{
    Input, Random, Side, Tokenizer, Truncation, family, fixtures, own_texts, rounds, text,
};
use crate::tokenizer::{Family, Windows};

/// (id, begin, end) of each token, special ones left out; in UTF-16 as JavaScript would count.
fn expected(tokenizer: &Tokenizer, text: &str) -> Vec<(i64, u32, u32)> {
    let mut units = vec![0];
    for char in text.chars() {
        units.push(units[units.len() - 1] + char.len_utf16() as u32);
    }
    let unit = |chars: usize| units[chars.min(units.len() - 1)];
    let encoding = tokenizer.inner.encode_char_offsets(text, false);
    let encoding = encoding.expect("an encoding");
    let places = encoding.get_ids().iter().zip(encoding.get_offsets());
    places
        .map(|(id, (begin, end))| (i64::from(*id), unit(*begin), unit(*end)))
        .collect()
}

/// Those of a text, 1 or 2, by window.
fn found(tokenizer: &Tokenizer, input: Input, stride: Option<usize>) -> Vec<Vec<(i64, u32, u32)>> {
    let windows = stride.map(|stride| Windows { stride, most: None });
    let located = tokenizer.locate(input, windows).expect("no error");
    let (tokens, sizes) = (located.ids.len(), &located.lengths);
    assert_eq!(sizes.iter().sum::<usize>(), tokens);
    assert_eq!(
        [
            located.types.len(),
            located.texts.len(),
            located.offsets.len() / 2
        ],
        [tokens; 3]
    );
    let mut windows = Vec::new();
    let mut first = 0;
    for size in sizes {
        let own = (first..first + size).filter(|i| located.texts[*i] == 1);
        let at = |i: usize| {
            (
                located.ids[i],
                located.offsets[2 * i],
                located.offsets[2 * i + 1],
            )
        };
        windows.push(own.map(at).collect());
        first += size;
    }
    windows
}

/// White space of the first token may stay, where the tokenizer puts some before a text.
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
        let most = tokenizer.max_length;
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
            tokenizer.max_length = most.min(*random.of(&[12, 40, 512]));
            for side in [Side::Start, Side::End] {
                let kept = Some(side);
                let cut = &found(&tokenizer, Input { kept, ..input }, None)[0];
                let rest = whole.len() - cut.len();
                let of_whole = match side {
                    Side::Start => &whole[..cut.len()],
                    Side::End => &whole[rest..],
                };
                assert!(same(cut, of_whole), "{directory:?}: {side:?} of {text:?}");
            }
        }
        tokenizer.max_length = most;
    }
}

#[test]
fn windows_share_so_many_tokens() {
    for directory in fixtures() {
        let mut tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("one");
        let random = &mut Random(29_041_128);
        let own = own_texts(&tokenizer, random);
        let specials = crate::backend::specials(&tokenizer.templates.single);
        for _ in 0..rounds() / 6 {
            let size = *random.of(&[30, 900, 3000]);
            let text = text(random, &own, size);
            let whole = expected(&tokenizer, &text);
            let room = *random.of(&[3, 10, 60]);
            tokenizer.max_length = room + specials;
            let stride = random.below(room);
            let input = Input {
                kept: Some(Side::Start),
                ..text.as_str().into()
            };
            // More windows than a text may have are an error, which the next test looks at.
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

/// The error of a text that has too many windows.
fn too_many(tokenizer: &Tokenizer, input: Input, stride: usize) -> String {
    let windows = Windows { stride, most: None };
    let error = tokenizer
        .locate(input, Some(windows))
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
    for most in [3, 4, 10, 66, 128, 512] {
        let tokenizer = Tokenizer::open(&directory, Family::Bert, most).expect("one");
        let room = most - crate::backend::specials(&tokenizer.templates.single);
        for count in [1, room, room + 1, 4 * room + 1, 20 * room, 60 * room] {
            let text = "a ".repeat(count);
            let input = Input::from(text.as_str());
            for stride in [0, room / 2, room - 1] {
                let windows = Windows { stride, most: None };
                match tokenizer.locate(input, Some(windows)) {
                    Ok(located) => assert!(
                        located.lengths.len() <= 8.max(4 * count.div_ceil(room)),
                        "{most}, {count}, {stride}"
                    ),
                    Err(error) => {
                        assert!(stride > room / 2, "{most}, {count}, {stride}: {error}");
                        // What the message says is accepted.
                        let fix = error.to_string();
                        let fix = fix.rsplit("Set stride to ").next().expect("a fix");
                        let stride = fix.split(' ').next().and_then(|word| word.parse().ok());
                        let windows = Windows {
                            stride: stride.expect("a number"),
                            most: None,
                        };
                        tokenizer.locate(input, Some(windows)).expect("accepted");
                    }
                }
                // The first ones, as a guard reads them, whatever they share.
                let few = Windows {
                    stride,
                    most: Some(3),
                };
                let located = tokenizer.locate(input, Some(few)).expect("no error");
                let all = 1 + count.saturating_sub(room).div_ceil(room - stride);
                assert_eq!(located.lengths.len(), all.min(3));
                assert_eq!(located.truncated, all > 3);
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
    // The same in windows of a few tokens, though none is read twice.
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
        kept: None,
        is_pair: false,
        most: None,
    };
    let located = tokenizer.locate(input, None).expect("no error");
    let is_second = |(text, _): &(&u8, &[u32])| **text == 2;
    let places = located.texts.iter().zip(located.offsets.chunks(2));
    let second: Vec<_> = places.filter(is_second).map(|(_, place)| place).collect();
    assert_eq!(second.last(), Some(&&[3, 4][..]), "{located:?}");
    assert_eq!(
        (located.texts.first(), located.texts.last()),
        (Some(&0), Some(&0))
    );
    let long = tokenizer
        .locate(
            "a",
            Some(Windows {
                stride: 510,
                most: None,
            }),
        )
        .expect_err("no new token");
    assert!(
        long.is::<crate::TooLong>() && long.to_string().starts_with("stride: 510"),
        "{long}"
    );
    let pair = tokenizer
        .locate(
            input,
            Some(Windows {
                stride: 1,
                most: None,
            }),
        )
        .expect_err("two texts");
    assert!(pair.is::<crate::TooLong>(), "{pair}");
}
