//! Differential fuzz target: ids of a slice and ids of the whole text.

use std::borrow::Cow;

use super::fixtures::Each;
use crate::tokenizer::text_encoding::EncodeOptions;
use crate::tokenizer::{Side, Tokenizer};

const HEAD: usize = 3;
const ROOMS: [usize; 8] = [1, 2, 5, 7, 16, 30, 64, 126];
const PARTS: [usize; 8] = [24, 33, 48, 70, 100, 160, 260, 400];

/// The first three bytes select the tokenizer; side, number of ids and size of the first slice; and the number of
/// repetitions. The rest is the text.
pub fn early_truncation(data: &[u8]) {
    static TOKENIZERS: Each<Tokenizer> = Each::new();
    let Some((text, chosen)) = text_of(data).zip(data.get(1)) else {
        return;
    };
    let (name, tokenizer) = TOKENIZERS.get(data[0], |directory, family| {
        Tokenizer::open(directory, family, 512).expect("a fixture")
    });
    let side = if chosen & 1 == 0 {
        Side::Start
    } else {
        Side::End
    };
    let room = ROOMS[usize::from(chosen >> 1 & 7)];
    let wanted = PARTS[usize::from(chosen >> 4 & 7)];
    let request = EncodeOptions {
        room,
        side,
        with_offsets: false,
    };
    let part = tokenizer.encode_by_slices(&text, request, wanted);
    let part = part.expect("no error");
    let ids = part.get_ids();
    let encoding = tokenizer.inner.encode_fast(text.as_str(), false);
    let whole = encoding.expect("an encoding").get_ids().to_vec();
    let is_same = match side {
        _ if ids.len() <= room => ids == whole,
        Side::Start => whole.starts_with(ids),
        Side::End => whole.ends_with(ids),
    };
    assert!(
        is_same,
        "{name}: {side:?}, {room} of {text:?}, from {wanted} bytes on"
    );
}

fn text_of(data: &[u8]) -> Option<String> {
    let (head, text) = data.split_at_checked(HEAD)?;
    let text: Cow<str> = String::from_utf8_lossy(text);
    Some(text.repeat(1 + usize::from(head[2] % 16)))
}
