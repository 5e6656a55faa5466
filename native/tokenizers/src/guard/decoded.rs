//! Texts that are written in other characters: in base64, in tags and in variation selectors.

use super::mapped::Mapped;

/// Of a run that is base64 as a whole, in characters: a word of as many letters decodes to letters
/// once in ten thousand times.
const LEAST_RUN: usize = 12;
/// Of a text within what is no base64 as a whole, or is cut by white space, in bytes.
const LEAST_WITHIN: usize = 16;
/// Of characters that are not seen.
const LEAST_HIDDEN: usize = 4;

/// All that can be read, each with the places of what it is made of.
pub fn decoded(text: &[Mapped]) -> Vec<Vec<Mapped>> {
    let mut found = in_base64(text);
    found.extend(in_hidden(text));
    found
}

/// A character of base64 (or of its form for addresses): its six bits.
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

fn in_base64(text: &[Mapped]) -> Vec<Vec<Mapped>> {
    let mut found = Vec::new();
    // What is read as a whole, then what lies within runs that white space may cut.
    let is_space = |one: &Mapped| one.0.is_whitespace();
    for run in runs(text, |one| bits_of(one.0).is_some()) {
        if run.len() < LEAST_RUN {
            continue;
        }
        let bytes = bytes_of(run);
        found.extend(readable(&bytes, bytes.len()));
    }
    let wholes: Vec<(u32, u32)> = found.iter().map(|one| extent(one)).collect();
    for run in runs(text, |one| is_space(one) || bits_of(one.0).is_some()) {
        let packed: Vec<Mapped> = run.iter().filter(|one| !is_space(one)).copied().collect();
        if packed.len() * 3 / 4 < LEAST_WITHIN {
            continue;
        }
        for shift in 0..4.min(packed.len()) {
            for text in readable(&bytes_of(&packed[shift..]), LEAST_WITHIN) {
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

/// Longest runs of what is as it is to be.
fn runs(text: &[Mapped], is_meant: impl Fn(&Mapped) -> bool) -> impl Iterator<Item = &[Mapped]> {
    text.chunk_by(move |a, b| is_meant(a) && is_meant(b))
}

fn extent(text: &[Mapped]) -> (u32, u32) {
    (text[0].1, text[text.len() - 1].2)
}

/// A byte, and from where to where the characters lie that have its bits.
type Byte = (u8, u32, u32);

fn bytes_of(run: &[Mapped]) -> Vec<Byte> {
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
            start = *begin; // the rest of its bits begin the next byte
        }
    }
    bytes
}

/// The texts among bytes that have so many of them: UTF-8, without controls.
fn readable(bytes: &[Byte], least: usize) -> Vec<Vec<Mapped>> {
    let plain: Vec<u8> = bytes.iter().map(|(byte, ..)| *byte).collect();
    let is_unread = |one: char| one.is_control() && !"\t\n\r".contains(one);
    let mut found = Vec::new();
    let mut at = 0;
    for chunk in plain.utf8_chunks() {
        for text in chunk.valid().split_inclusive(is_unread) {
            let read = text.trim_end_matches(is_unread);
            if read.len() >= least.max(1) {
                found.push(placed(read, &bytes[at..]));
            }
            at += text.len();
        }
        at += chunk.invalid().len();
    }
    found
}

/// A text that bytes begin with.
fn placed(text: &str, bytes: &[Byte]) -> Vec<Mapped> {
    let each = text.char_indices().map(|(first, character)| {
        let last = first + character.len_utf8() - 1;
        (character, bytes[first].1, bytes[last].2)
    });
    each.collect()
}

/// Tags stand for ASCII, variation selectors for bytes.
fn in_hidden(text: &[Mapped]) -> Vec<Vec<Mapped>> {
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
            let is_flag = at > 0 && text[at - 1].0 == '\u{1f3f4}'; // of England, Scotland, Wales
            at += run.len();
            let bytes = run
                .iter()
                .filter_map(|(one, start, end)| Some((stands_for(*one)?, *start, *end)));
            let bytes: Vec<Byte> = bytes.collect();
            if bytes.len() < LEAST_HIDDEN || is_flag {
                continue;
            }
            found.extend(readable(&bytes, LEAST_HIDDEN));
        }
    }
    found
}
