//! Decoding of hidden text: base64, tag characters and variation selectors.

use crate::mapped::MappedChar;

/// Minimum length in characters of a run that is base64 as a whole. A word of this length decodes to letters once in
/// ten thousand times.
const MIN_RUN: usize = 12;
/// Minimum size in bytes of decoded text within a longer run, or in a run with white space.
const MIN_WITHIN: usize = 16;
/// Minimum number of invisible characters.
const MIN_INVISIBLE: usize = 4;

/// Returns all decoded texts, with the source of each character.
pub fn decode_hidden(text: &[MappedChar]) -> Vec<Vec<MappedChar>> {
    let mut found = decode_base64(text);
    found.extend(decode_invisible(text));
    found
}

/// Six bits of a base64 or base64url character.
fn bits_of(character: char) -> Option<u8> {
    let byte = u8::try_from(character).ok()?;
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

fn decode_base64(text: &[MappedChar]) -> Vec<Vec<MappedChar>> {
    let mut found = Vec::new();
    // Runs without white space are decoded as a whole, then parts of runs with white space.
    let is_space = |one: &MappedChar| one.0.is_whitespace();
    for run in runs(text, |one| bits_of(one.0).is_some()) {
        if run.len() < MIN_RUN {
            continue;
        }
        let bytes = bytes_of(run);
        found.extend(readable(&bytes, bytes.len()));
    }
    let wholes: Vec<(u32, u32)> = found.iter().map(|one| extent(one)).collect();
    for run in runs(text, |one| is_space(one) || bits_of(one.0).is_some()) {
        let packed: Vec<MappedChar> = run.iter().filter(|one| !is_space(one)).copied().collect();
        if packed.len() * 3 / 4 < MIN_WITHIN {
            continue;
        }
        for shift in 0..4.min(packed.len()) {
            for text in readable(&bytes_of(&packed[shift..]), MIN_WITHIN) {
                let (start, end) = extent(&text);
                let before = wholes.partition_point(|whole| whole.0 <= start);
                let is_known = before > 0 && end <= wholes[before - 1].1;
                if !is_known {
                    found.push(text);
                }
            }
        }
    }
    found
}

/// Splits the text into runs; consecutive characters that satisfy `matches` are in one run.
fn runs(
    text: &[MappedChar],
    matches: impl Fn(&MappedChar) -> bool,
) -> impl Iterator<Item = &[MappedChar]> {
    text.chunk_by(move |a, b| matches(a) && matches(b))
}

fn extent(text: &[MappedChar]) -> (u32, u32) {
    (text[0].1, text[text.len() - 1].2)
}

/// A decoded byte, and start and end of the characters that contain its bits.
type Byte = (u8, u32, u32);

fn bytes_of(run: &[MappedChar]) -> Vec<Byte> {
    let mut bytes = Vec::with_capacity(run.len() * 3 / 4);
    let mut bits = 0_u32;
    let mut count = 0;
    let mut start = 0;
    for (character, begin, end) in run {
        let Some(six) = bits_of(*character) else {
            break;
        };
        if count == 0 {
            start = *begin;
        }
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(((bits >> count) as u8, start, *end));
            start = *begin; // its remaining bits belong to the next byte
        }
    }
    bytes
}

/// Returns the texts of at min_bytes `min_bytes` bytes: valid UTF-8 without control characters.
fn readable(bytes: &[Byte], min_bytes: usize) -> Vec<Vec<MappedChar>> {
    let plain: Vec<u8> = bytes.iter().map(|(byte, ..)| *byte).collect();
    let is_unread = |one: char| one.is_control() && !"\t\n\r".contains(one);
    let mut found = Vec::new();
    let mut at = 0;
    for chunk in plain.utf8_chunks() {
        for text in chunk.valid().split_inclusive(is_unread) {
            let read = text.trim_end_matches(is_unread);
            if read.len() >= min_bytes.max(1) {
                found.push(with_sources(read, &bytes[at..]));
            }
            at += text.len();
        }
        at += chunk.invalid().len();
    }
    found
}

/// Maps a decoded text to the sources of its bytes.
fn with_sources(text: &str, bytes: &[Byte]) -> Vec<MappedChar> {
    let each = text.char_indices().map(|(first, character)| {
        let last = first + character.len_utf8() - 1;
        (character, bytes[first].1, bytes[last].2)
    });
    each.collect()
}

/// Decodes tag characters (ASCII) and variation selectors (bytes).
fn decode_invisible(text: &[MappedChar]) -> Vec<Vec<MappedChar>> {
    let tag = |one: char| match one {
        '\u{e0020}'..='\u{e007e}' => Some((one as u32 - 0xe0000) as u8),
        _ => None,
    };
    let selector = |one: char| match one {
        '\u{fe00}'..='\u{fe0f}' => Some((one as u32 - 0xfe00) as u8),
        '\u{e0100}'..='\u{e01ef}' => Some((one as u32 - 0xe0100 + 16) as u8),
        _ => None,
    };
    let mut found = Vec::new();
    for stands_for in [&tag as &dyn Fn(char) -> Option<u8>, &selector] {
        let mut at = 0;
        for run in runs(text, |one| stands_for(one.0).is_some()) {
            let is_flag = at > 0 && text[at - 1].0 == '\u{1f3f4}'; // flags of England, Scotland, Wales
            at += run.len();
            let bytes = run
                .iter()
                .filter_map(|(one, start, end)| Some((stands_for(*one)?, *start, *end)));
            let bytes: Vec<Byte> = bytes.collect();
            if bytes.len() < MIN_INVISIBLE || is_flag {
                continue;
            }
            found.extend(readable(&bytes, MIN_INVISIBLE));
        }
    }
    found
}
