//! International phone numbers: `+`, and at most 15 digits (ITU-T E.164).

use std::ops::{ControlFlow, RangeInclusive};

use memchr::memchr_iter;

use crate::kinds::{MatchSink, MergedMatches, units_in};
use crate::normalization::is_dash;

const DIGITS: RangeInclusive<usize> = 7..=15;
/// Maximum number of characters between two groups of digits: `) / (`.
const MAX_GAP: usize = 5;
/// Maximum number of characters between `+` and the first digit.
const MAX_FIRST_GAP: usize = 2;

/// Finds a number after each `+`, up to the last possible group of digits. The length of a number depends on the
/// country, so a date or postal code after the number may be included.
pub fn find(text: &str, sink: &mut dyn MatchSink) -> ControlFlow<()> {
    let mut merged = MergedMatches::new(sink);
    for start in memchr_iter(b'+', text.as_bytes()) {
        merged.poll()?;
        if let Some(end) = end_of(text, start) {
            merged.add(start..end)?;
        }
    }
    merged.end()
}

fn end_of(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    let mut gap = gap_at(text, at, MAX_FIRST_GAP)?;
    // After `+` and a space, the text may also be a sum.
    let widest = if gap > 0 { MAX_FIRST_GAP } else { MAX_GAP };
    let mut count = 0;
    let mut end = None;
    loop {
        at += gap;
        let group = bytes[at..].iter().take(DIGITS.end() + 1);
        let length = group.take_while(|byte| byte.is_ascii_digit()).count();
        let is_first = count == 0;
        if length == 0 || (is_first && bytes[at] == b'0') || count + length > *DIGITS.end() {
            return end;
        }
        count += length;
        at += length;
        if DIGITS.contains(&count) {
            end = Some(at);
        }
        let Some(next) = gap_at(text, at, widest) else {
            return end;
        };
        gap = next;
    }
}

/// Length in bytes of the gap between two groups of digits; None: the number ends.
fn gap_at(text: &str, at: usize, widest: usize) -> Option<usize> {
    let rest = &text[at..];
    let is_gap = |one: char| one.is_whitespace() || "-.()/".contains(one) || is_dash(one);
    let length = rest.find(|one| !is_gap(one))?;
    (units_in(&rest[..length]) <= widest).then_some(length)
}
