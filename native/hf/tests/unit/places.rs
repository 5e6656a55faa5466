//! Places of tokens are those that the crate gives for the whole text.

use super::{
    Input, Random, Side, Tokenizer, Truncation, family, fixtures, own_texts, rounds, text,
};
use crate::tokenizer::Family;

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
    let located = tokenizer.locate(input, stride).expect("no error");
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
            let windows = {
                let input = Input {
                    kept: Some(Side::Start),
                    ..text.as_str().into()
                };
                found(&tokenizer, input, Some(stride))
            };
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
    let long = tokenizer.locate("a", Some(510)).expect_err("no new token");
    assert!(
        long.is::<crate::TooLong>() && long.to_string().starts_with("stride: 510"),
        "{long}"
    );
    let pair = tokenizer.locate(input, Some(1)).expect_err("two texts");
    assert!(pair.is::<crate::TooLong>(), "{pair}");
}
