//! Phone numbers as they are written for other countries: `+`, and at most 15 digits (ITU-T E.164).

use std::ops::{ControlFlow, RangeInclusive};

use memchr::memchr_iter;

use super::forms::is_dash;
use super::kinds::{Merged, Sink, units_in};

const DIGITS: RangeInclusive<usize> = 7..=15;
/// Units between two groups of digits: `) / (`.
const WIDEST: usize = 5;
/// Between `+` and the first digit.
const WIDEST_FIRST: usize = 2;

/// Numbers behind every `+`, each to the end of the last group of digits that it may have. How long a
/// number is, its country says; a date or a postal code behind it may be covered, too.
pub fn find(text: &str, sink: &mut dyn Sink) -> ControlFlow<()> {
    let mut merged = Merged::new(sink);
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
    let mut gap = gap_at(text, at, WIDEST_FIRST)?;
    // Behind `+` and a space also a sum may stand.
    let widest = if gap > 0 { WIDEST_FIRST } else { WIDEST };
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

/// Bytes between two groups of digits; None: what stands there is none of a number.
fn gap_at(text: &str, at: usize, widest: usize) -> Option<usize> {
    let rest = &text[at..];
    let is_gap = |one: char| one.is_whitespace() || "-.()/".contains(one) || is_dash(one);
    let length = rest.find(|one| !is_gap(one))?;
    (units_in(&rest[..length]) <= widest).then_some(length)
}
