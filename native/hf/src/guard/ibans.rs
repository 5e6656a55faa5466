//! International bank account numbers: ISO 13616, with the lengths of its registry, and the check
//! digits of ISO 7064 (MOD 97-10).

use std::ops::Range;

/// Characters of a number, by country: SWIFT's registry of IBAN formats, release 99.
const LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 \
    DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 \
    IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 \
    MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 \
    SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

/// Groups have one space or dash between them.
pub const CANDIDATE: &str =
    r"(?i)[A-Z][\s\p{Pd}]?[A-Z](?:[\s\p{Pd}]?[0-9]){2}(?:[\s\p{Pd}]?[A-Z0-9]){11,}";

/// Numbers in a run of letters and digits, and what stands between them. What follows a number
/// directly is none of it: its country says how long it is.
pub fn find(run: &str) -> Vec<Range<usize>> {
    let characters: Vec<(usize, u8)> = run
        .bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_alphanumeric())
        .map(|(at, byte)| (at, byte.to_ascii_uppercase()))
        .collect();
    let mut found = Vec::new();
    let mut first = 0;
    while first < characters.len() {
        let Some(length) = iban_at(&characters[first..]) else {
            first += 1;
            continue;
        };
        found.push(characters[first].0..characters[first + length - 1].0 + 1);
        first += length;
    }
    found
}

/// The length of the number that the characters begin with.
fn iban_at(characters: &[(usize, u8)]) -> Option<usize> {
    let [(_, a), (_, b), (_, c), (_, d), ..] = characters else {
        return None;
    };
    if !(a.is_ascii_alphabetic() && c.is_ascii_digit() && d.is_ascii_digit()) {
        return None;
    }
    let length = length_in(&[*a, *b])?;
    let number = characters.get(..length)?;
    let moved = number[4..].iter().chain(&number[..4]);
    let rest = moved.fold(0_u32, |rest, (_, character)| match character {
        b'0'..=b'9' => (10 * rest + u32::from(character - b'0')) % 97,
        _ => (100 * rest + u32::from(character - b'A') + 10) % 97,
    });
    (rest == 1).then_some(length)
}

fn length_in(country: &[u8; 2]) -> Option<usize> {
    let mut entries = LENGTHS.split_whitespace();
    let entry = entries.find(|entry| entry.as_bytes().starts_with(country))?;
    entry[2..].parse().ok()
}
