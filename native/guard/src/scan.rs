//! Search of all patterns in all text variants, until a deadline.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use crate::patterns::{Patterns, Search};
use crate::text_variants::TextVariant;

/// A match of a pattern, in UTF-16 units of a text variant.
#[derive(Debug, PartialEq, Eq)]
pub struct Match {
    /// Index of the pattern.
    pub pattern: usize,
    /// Index of the text variant.
    pub variant: usize,
    pub start: u32,
    pub end: u32,
}

pub struct MatchLimits {
    pub max_matches: usize,
    pub deadline: Deadline,
}

/// End of the time for a search; by default unlimited.
#[derive(Clone, Copy, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    pub fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Reason why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopReason {
    /// All variants were searched.
    Completed,
    MaxMatches,
    Deadline,
}

/// Searches all variants for all patterns.
pub fn find_matches(
    patterns: &Patterns,
    variants: &[TextVariant],
    limits: &MatchLimits,
) -> (Vec<Match>, StopReason) {
    let deadline = limits.deadline;
    let mut matches = Vec::new();
    if deadline.has_passed() {
        return (matches, StopReason::Deadline);
    }
    for (variant, TextVariant { text, .. }) in variants.iter().enumerate() {
        let mut units = Utf16Index::new(text);
        let mut last = usize::MAX;
        let found = |pattern, range: Range<usize>| {
            if pattern != last {
                units = Utf16Index::new(text);
                last = pattern;
            }
            if matches.len() >= limits.max_matches {
                return ControlFlow::Break(());
            }
            let [start, end] = [range.start, range.end].map(|byte| units.at(byte));
            matches.push(Match {
                pattern,
                variant,
                start,
                end,
            });
            ControlFlow::Continue(())
        };
        let is_late = || deadline.has_passed();
        if patterns
            .find(text, &mut Search { found, is_late })
            .is_break()
        {
            let reason = if deadline.has_passed() {
                StopReason::Deadline
            } else {
                StopReason::MaxMatches
            };
            return (matches, reason);
        }
    }
    (matches, StopReason::Completed)
}

/// Converts byte offsets of a text to UTF-16 units. Offsets must not decrease from call to call.
struct Utf16Index<'a> {
    text: &'a str,
    byte: usize,
    unit: u32,
}

impl<'a> Utf16Index<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            byte: 0,
            unit: 0,
        }
    }

    fn at(&mut self, byte: usize) -> u32 {
        let passed = &self.text[self.byte..byte];
        self.unit += passed
            .chars()
            .map(|one| one.len_utf16() as u32)
            .sum::<u32>();
        self.byte = byte;
        self.unit
    }
}
