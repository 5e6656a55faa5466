//! International bank account numbers: ISO 13616, with the lengths of its registry, and the check
//! digits of ISO 7064 (MOD 97-10).

use std::ops::ControlFlow;
use std::sync::LazyLock;

use super::kinds::{Merged, Sink, is_gap};

/// Characters of a number, by country: SWIFT's registry of IBAN formats, release 99.
const LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 \
    DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 \
    IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 \
    MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 \
    SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

/// Characters of the longest number that ISO 13616 allows.
const LONGEST: usize = 34;
/// Characters between two groups of a number.
const WIDEST: usize = 3;
/// Of all groups but the last, where dots or several characters stand between them.
const LEAST_IN_WIDE: usize = 3;

/// Numbers at any place: two letters that are a country, and as many letters and digits as it has. What
/// stands directly before or behind a number is none of it.
pub fn find(text: &str, sink: &mut dyn Sink) -> ControlFlow<()> {
    let mut merged = Merged::new(sink);
    let mut searched = 0;
    // Most texts have few digits: the first check digit is looked for, and the country before it.
    while let Some(found) = text.as_bytes()[searched..]
        .iter()
        .position(u8::is_ascii_digit)
    {
        let check_digit = searched + found;
        if let Some((start, length)) = country_before(text, check_digit) {
            merged.poll()?;
            if let Some(end) = iban_at(text, start, length) {
                merged.add(start..end)?;
            }
        }
        searched = check_digit + 1;
    }
    merged.end()
}

/// Where the country begins whose letters stand before a place, and the length of its numbers.
fn country_before(text: &str, at: usize) -> Option<(usize, usize)> {
    let (second, letter) = letter_before(text, at)?;
    let (first, other) = letter_before(text, second)?;
    Some((first, length_in([other, letter])?))
}

fn letter_before(text: &str, at: usize) -> Option<(usize, u8)> {
    let before = text[..at].trim_end_matches(is_gap);
    let letter = before.bytes().next_back().filter(u8::is_ascii_alphabetic)?;
    let is_near = text[before.len()..at].chars().count() <= WIDEST;
    is_near.then_some((before.len() - 1, letter.to_ascii_uppercase()))
}

/// The end of the number that begins at a place.
fn iban_at(text: &str, start: usize, length: usize) -> Option<usize> {
    let mut number = [0_u8; LONGEST];
    let mut count = 0;
    let mut end = None;
    let mut gap = 0;
    // Words of a sentence have letters and digits in any order, too: their groups are short ones.
    let mut group = 0;
    let mut shortest = usize::MAX;
    let mut is_wide = false;
    for (at, one) in text[start..].char_indices() {
        if one.is_ascii_alphanumeric() {
            number[count] = one.to_ascii_uppercase() as u8;
            count += 1;
            group += 1;
            gap = 0;
            if count == length {
                end = Some(start + at + 1);
                break;
            }
        } else {
            if gap == 0 {
                shortest = shortest.min(group);
                group = 0;
            }
            gap += 1;
            is_wide |= gap > 1 || one == '.' || one == '+';
            if gap > WIDEST || !is_gap(one) || (is_wide && shortest < LEAST_IN_WIDE) {
                return None;
            }
        }
    }
    let end = end?;
    let number = &number[..length];
    let moved = number[4..].iter().chain(&number[..4]);
    let rest = moved.fold(0_u32, |rest, character| match character {
        b'0'..=b'9' => (10 * rest + u32::from(character - b'0')) % 97,
        _ => (100 * rest + u32::from(character - b'A') + 10) % 97,
    });
    let has_check_digits = number[2..4].iter().all(u8::is_ascii_digit);
    (has_check_digits && rest == 1).then_some(end)
}

/// By the letters of a country; 0: it has no such numbers.
static LENGTHS_BY_LETTERS: LazyLock<[u8; 26 * 26]> = LazyLock::new(|| {
    let mut lengths = [0; 26 * 26];
    for entry in LENGTHS.split_whitespace() {
        let letters = entry.as_bytes();
        lengths[place_of([letters[0], letters[1]])] = entry[2..].parse().expect("is a number");
    }
    lengths
});

fn place_of([first, second]: [u8; 2]) -> usize {
    usize::from(first - b'A') * 26 + usize::from(second - b'A')
}

fn length_in(country: [u8; 2]) -> Option<usize> {
    let length = LENGTHS_BY_LETTERS[place_of(country)];
    (length > 0).then_some(usize::from(length))
}
