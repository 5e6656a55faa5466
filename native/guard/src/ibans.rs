//! International bank account numbers (ISO 13616): lengths by country, and check digits of ISO 7064 (MOD 97-10).

use std::ops::ControlFlow;
use std::sync::LazyLock;

use crate::kinds::{MatchSink, MergedMatches, is_gap};

/// Number of characters by country. Source: SWIFT's registry of IBAN formats, release 99.
const LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 \
    DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 \
    IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 \
    MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 \
    SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

/// Maximum number of characters of an IBAN (ISO 13616).
const MAX_LENGTH: usize = 34;
/// Maximum number of characters between two groups.
const MAX_GAP: usize = 3;
/// Minimum length of each group except the last, if dots or several characters separate the groups.
const MIN_DIGITS_IN_WIDE: usize = 3;

/// Finds IBANs at any position: a country code, and the country's number of letters and digits. Adjacent characters are
/// not part of the IBAN.
pub fn find(text: &str, sink: &mut dyn MatchSink) -> ControlFlow<()> {
    let mut merged = MergedMatches::new(sink);
    let mut searched = 0;
    // Searches for digits, which are rarer than letters: a candidate is a country code before a check digit.
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

/// Start of the country code before a position, and the length of the country's IBANs.
fn country_before(text: &str, at: usize) -> Option<(usize, usize)> {
    let (second, letter) = letter_before(text, at)?;
    let (first, other) = letter_before(text, second)?;
    Some((first, length_in([other, letter])?))
}

fn letter_before(text: &str, at: usize) -> Option<(usize, u8)> {
    let before = text[..at].trim_end_matches(is_gap);
    let letter = before.bytes().next_back().filter(u8::is_ascii_alphabetic)?;
    let is_near = text[before.len()..at].chars().count() <= MAX_GAP;
    is_near.then_some((before.len() - 1, letter.to_ascii_uppercase()))
}

/// End of the IBAN that starts at `start`; None if it is invalid.
fn iban_at(text: &str, start: usize, length: usize) -> Option<usize> {
    let mut number = [0_u8; MAX_LENGTH];
    let mut count = 0;
    let mut end = None;
    let mut gap = 0;
    // Words of a sentence also consist of letters and digits, in short groups.
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
            if gap > MAX_GAP || !is_gap(one) || (is_wide && shortest < MIN_DIGITS_IN_WIDE) {
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

/// IBAN lengths by country code; 0: unknown country.
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
