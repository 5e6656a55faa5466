//! Patterns in all texts that a guard looks at, until a deadline.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use super::looks::Look;
use super::patterns::{Patterns, Search};

/// What a pattern has found, in UTF-16 units of a look.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    pub pattern: usize,
    pub look: usize,
    pub start: u32,
    pub end: u32,
}

pub struct Options {
    /// Places that are told.
    pub most_places: usize,
    pub deadline: Deadline,
}

/// When a search ends; by default never.
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

/// Why not all was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    Nothing,
    Places,
    Time,
}

/// Of all patterns in all looks, until the deadline.
pub fn places_in(patterns: &Patterns, looks: &[Look], options: &Options) -> (Vec<Place>, Left) {
    let Options {
        most_places,
        deadline,
    } = *options;
    let mut places = Vec::new();
    if deadline.has_passed() {
        return (places, Left::Time);
    }
    for (look, Look { text, .. }) in looks.iter().enumerate() {
        let mut units = Units::new(text);
        let mut last = usize::MAX;
        let found = |pattern, range: Range<usize>| {
            if pattern != last {
                units = Units::new(text);
                last = pattern;
            }
            if places.len() >= most_places {
                return ControlFlow::Break(());
            }
            let [start, end] = [range.start, range.end].map(|byte| units.at(byte));
            places.push(Place {
                pattern,
                look,
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
            let left = if deadline.has_passed() {
                Left::Time
            } else {
                Left::Places
            };
            return (places, left);
        }
    }
    (places, Left::Nothing)
}

/// From bytes of a text to UTF-16 units, asked in the order of the text.
struct Units<'a> {
    text: &'a str,
    byte: usize,
    unit: u32,
}

impl<'a> Units<'a> {
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
