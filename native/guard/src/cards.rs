//! Payment card numbers: prefixes and lengths of the card networks, and the check digit (Luhn, ISO/IEC 7812-1).

use std::ops::{ControlFlow, Range, RangeInclusive};

use crate::kinds::{MatchSink, MergedMatches, is_gap, units_in};

/// First and last prefix of a network, and lengths of its numbers in digits.
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
const MIN: usize = 12;
const MAX: usize = 19;

/// Maximum number of characters between two groups of digits.
const MAX_GAP: usize = 3;

/// Minimum number of digits of each group except the last, if several characters separate the groups. Excludes the
/// columns of a table.
const MIN_DIGITS_IN_WIDE: usize = 3;

/// Consecutive digits.
struct Group<'a> {
    range: Range<usize>,
    digits: &'a [u8],
    /// Number of characters since the previous group; `usize::MAX` if they do not form a gap.
    gap: usize,
}

/// Finds numbers that start at the start of a group of digits and end at the end of a group. Any group may start a
/// number, whatever precedes it.
pub fn find(text: &str, sink: &mut dyn MatchSink) -> ControlFlow<()> {
    let mut merged = MergedMatches::new(sink);
    let mut groups: Vec<Group> = Vec::new();
    let mut digits = 0;
    let mut searched = 0;
    loop {
        let group = group_after(text, searched);
        let goes_on = group.as_ref().is_some_and(|group| group.gap <= MAX_GAP);
        if !goes_on && !groups.is_empty() {
            if digits >= MIN {
                find_in(&groups, &mut merged)?;
            }
            groups.clear();
            digits = 0;
        }
        let Some(group) = group else {
            return merged.end();
        };
        searched = group.range.end;
        digits += group.digits.len();
        groups.push(group);
    }
}

fn find_in(groups: &[Group], merged: &mut MergedMatches) -> ControlFlow<()> {
    for (first, group) in groups.iter().enumerate() {
        if first % 64 == 0 {
            merged.poll()?;
        }
        if let Some(end) = longest(&groups[first..]) {
            merged.add(group.range.start..end)?;
        }
    }
    ControlFlow::Continue(())
}

/// Returns the next group of digits.
fn group_after(text: &str, at: usize) -> Option<Group<'_>> {
    let bytes = text.as_bytes();
    let start = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
    let end = bytes[start..].iter().position(|one| !one.is_ascii_digit());
    let range = start..end.map_or(bytes.len(), |length| start + length);
    let between = &text[at..start];
    let is_gap = between.len() <= 4 * MAX_GAP && between.chars().all(is_gap);
    let gap = if is_gap {
        units_in(between)
    } else {
        usize::MAX
    };
    let digits = &bytes[range.clone()];
    Some(Group { range, digits, gap })
}

/// Returns the end of the longest valid number that starts with the first group.
fn longest(groups: &[Group]) -> Option<usize> {
    let mut lengths = None;
    let mut number = Luhn::default();
    let mut shortest = usize::MAX;
    let mut widest = 0;
    let mut found = None;
    for (index, group) in groups.iter().enumerate() {
        let digits = group.digits;
        if number.count + digits.len() > MAX {
            break;
        }
        digits.iter().for_each(|digit| number.add(digit - b'0'));
        if index > 0 {
            widest = widest.max(group.gap);
        }
        if widest > 1 && shortest < MIN_DIGITS_IN_WIDE {
            break;
        }
        shortest = shortest.min(digits.len());
        if number.count < MIN {
            continue;
        }
        let lengths = *lengths.get_or_insert_with(|| lengths_of(number.prefix));
        if lengths == 0 {
            break;
        }
        if lengths >> number.count & 1 == 1 && number.is_valid() {
            found = Some(group.range.end);
        }
    }
    found
}

/// Valid lengths of numbers with this four-digit prefix, one bit per length.
fn lengths_of(prefix: u32) -> u32 {
    let networks = NETWORKS.iter().filter(|(from, to, _)| {
        let left_out = 3 - from.ilog10();
        (*from..=*to).contains(&(prefix / 10_u32.pow(left_out)))
    });
    let lengths = networks.flat_map(|(.., lengths)| lengths.clone());
    lengths.fold(0, |bits, length| bits | 1 << length)
}

/// Incremental Luhn checksum.
#[derive(Default)]
struct Luhn {
    count: usize,
    /// First four digits.
    prefix: u32,
    /// Digit sums with every second digit doubled, starting with the first or with the second digit.
    sums: [u32; 2],
}

impl Luhn {
    fn add(&mut self, digit: u8) {
        let digit = u32::from(digit);
        let doubled = if digit > 4 { 2 * digit - 9 } else { 2 * digit };
        let index = self.count % 2;
        self.sums[index] += doubled;
        self.sums[1 - index] += digit;
        if self.count < 4 {
            self.prefix = 10 * self.prefix + digit;
        }
        self.count += 1;
    }

    /// True if the checksum is valid. The last digit is not doubled.
    fn is_valid(&self) -> bool {
        self.sums[self.count % 2] % 10 == 0
    }
}
