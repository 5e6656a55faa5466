//! Numbers of payment cards: the prefixes and lengths of their networks, and the check digit (Luhn,
//! ISO/IEC 7812-1).

use std::ops::{ControlFlow, Range, RangeInclusive};

use super::kinds::{Merged, Sink, is_gap, units_in};

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

/// Characters between two groups of a number.
const WIDEST: usize = 3;

/// Of all groups but the last, where several units stand between them: the columns of a table are no
/// groups of a card.
const LEAST_IN_WIDE: usize = 3;

/// Digits that follow each other directly.
struct Group<'a> {
    range: Range<usize>,
    digits: &'a [u8],
    /// Units between it and the group before; more than any gap has: no gap is there.
    gap: usize,
}

/// Numbers that begin at the beginning of a group of digits and end at the end of one: a number that
/// goes on is another one. Every group may begin a number, whatever stands before it.
pub fn find(text: &str, sink: &mut dyn Sink) -> ControlFlow<()> {
    let mut merged = Merged::new(sink);
    let mut groups: Vec<Group> = Vec::new();
    let mut digits = 0;
    let mut searched = 0;
    loop {
        let group = group_after(text, searched);
        let goes_on = group.as_ref().is_some_and(|group| group.gap <= WIDEST);
        if !goes_on && !groups.is_empty() {
            if digits >= LEAST {
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

fn find_in(groups: &[Group], merged: &mut Merged) -> ControlFlow<()> {
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

/// The next digits that follow each other.
fn group_after(text: &str, at: usize) -> Option<Group<'_>> {
    let bytes = text.as_bytes();
    let start = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
    let end = bytes[start..].iter().position(|one| !one.is_ascii_digit());
    let range = start..end.map_or(bytes.len(), |length| start + length);
    let between = &text[at..start];
    let is_gap = between.len() <= 4 * WIDEST && between.chars().all(is_gap);
    let gap = if is_gap {
        units_in(between)
    } else {
        usize::MAX
    };
    let digits = &bytes[range.clone()];
    Some(Group { range, digits, gap })
}

/// Where the longest number ends that the groups begin with.
fn longest(groups: &[Group]) -> Option<usize> {
    let mut lengths = None;
    let mut number = Luhn::default();
    let mut shortest = usize::MAX;
    let mut widest = 0;
    let mut found = None;
    for (place, group) in groups.iter().enumerate() {
        let digits = group.digits;
        if number.count + digits.len() > MOST {
            break;
        }
        digits.iter().for_each(|digit| number.add(digit - b'0'));
        if place > 0 {
            widest = widest.max(group.gap);
        }
        if widest > 1 && shortest < LEAST_IN_WIDE {
            break;
        }
        shortest = shortest.min(digits.len());
        if number.count < LEAST {
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

/// The lengths that numbers of a network have, by its first four digits: a bit for each.
fn lengths_of(prefix: u32) -> u32 {
    let networks = NETWORKS.iter().filter(|(from, to, _)| {
        let left_out = 3 - from.ilog10();
        (*from..=*to).contains(&(prefix / 10_u32.pow(left_out)))
    });
    let lengths = networks.flat_map(|(.., lengths)| lengths.clone());
    lengths.fold(0, |bits, length| bits | 1 << length)
}

/// A number whose digits come one after the other.
#[derive(Default)]
struct Luhn {
    count: usize,
    /// Of its first four digits.
    prefix: u32,
    /// Sums of its digits, with every second of them doubled: from the first on, from the second on.
    sums: [u32; 2],
}

impl Luhn {
    fn add(&mut self, digit: u8) {
        let digit = u32::from(digit);
        let doubled = if digit > 4 { 2 * digit - 9 } else { 2 * digit };
        let place = self.count % 2;
        self.sums[place] += doubled;
        self.sums[1 - place] += digit;
        if self.count < 4 {
            self.prefix = 10 * self.prefix + digit;
        }
        self.count += 1;
    }

    /// The last digit is not doubled.
    fn is_valid(&self) -> bool {
        self.sums[self.count % 2] % 10 == 0
    }
}
