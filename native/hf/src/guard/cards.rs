//! Numbers of payment cards: the prefixes and lengths of their networks, and the check digit (Luhn,
//! ISO/IEC 7812-1).

use std::ops::{Range, RangeInclusive};

/// First digits, from and to, with as many digits each, and how many digits the whole number has.
const NETWORKS: [(u32, u32, RangeInclusive<usize>); 18] = [
    (4, 4, 13..=19),       // Visa
    (51, 55, 16..=16),     // Mastercard
    (2221, 2720, 16..=16), // Mastercard
    (34, 34, 15..=15),     // American Express
    (37, 37, 15..=15),     // American Express
    (6011, 6011, 16..=19), // Discover
    (644, 649, 16..=19),   // Discover
    (65, 65, 16..=19),     // Discover, RuPay
    (300, 305, 14..=19),   // Diners Club
    (36, 36, 14..=19),     // Diners Club
    (38, 39, 14..=19),     // Diners Club
    (3528, 3589, 16..=19), // JCB
    (62, 62, 16..=19),     // UnionPay
    (81, 82, 16..=19),     // UnionPay, RuPay
    (5018, 5038, 12..=19), // Maestro
    (5893, 5893, 12..=19), // Maestro
    (6304, 6304, 12..=19), // Maestro
    (6759, 6763, 12..=19), // Maestro
];
const LEAST: usize = 12;
const MOST: usize = 19;

/// What may stand between the groups of a number: one space, dash or dot.
pub const CANDIDATE: &str = r"[0-9](?:[\s\p{Pd}.]?[0-9]){11,}";

/// Numbers in a run of digits and what stands between them, each from the beginning of a group of
/// digits to the end of one: a number that goes on is another one.
pub fn find(run: &str) -> Vec<Range<usize>> {
    let digits: Vec<(usize, u32)> = run
        .char_indices()
        .filter_map(|(at, digit)| Some((at, digit.to_digit(10)?)))
        .collect();
    let begins = |i: usize| i == 0 || digits[i - 1].0 + 1 < digits[i].0;
    let ends = |i: usize| i + 1 == digits.len() || digits[i].0 + 1 < digits[i + 1].0;
    let mut found = Vec::new();
    let mut first = 0;
    while first + LEAST <= digits.len() {
        let longest = (LEAST..=MOST.min(digits.len() - first))
            .rev()
            .find(|length| {
                let number = &digits[first..first + length];
                begins(first) && ends(first + length - 1) && is_card(number)
            });
        let Some(length) = longest else {
            first += 1;
            continue;
        };
        found.push(digits[first].0..digits[first + length - 1].0 + 1);
        first += length;
    }
    found
}

fn is_card(digits: &[(usize, u32)]) -> bool {
    let prefix = |length: u32| {
        let first = digits.iter().take(length as usize);
        first.fold(0, |number, (_, digit)| 10 * number + digit)
    };
    let is_known = NETWORKS.iter().any(|(from, to, lengths)| {
        (*from..=*to).contains(&prefix(from.ilog10() + 1)) && lengths.contains(&digits.len())
    });
    let doubled = |(place, (_, digit)): (usize, &(usize, u32))| match place % 2 {
        0 => *digit,
        _ if *digit > 4 => 2 * digit - 9,
        _ => 2 * digit,
    };
    is_known && digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
}
