//! The texts that a guard looks at: each part as it is, and the forms in which it may hide.

use std::time::{Duration, Instant};

use super::patterns::Patterns;

/// A text to be looked at.
#[derive(Debug, PartialEq, Eq)]
pub struct Look {
    /// What was done to it, in words of the guard's file; empty: nothing.
    pub view: &'static str,
    /// Which part it is of; as many as there are: of several.
    pub part: usize,
    pub text: String,
    /// Of each UTF-16 unit of `text` where what it is made of begins, and ends, in its part; of several
    /// parts, one behind the other. Empty: they are its own places.
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
}

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
    pub timeout: Option<Duration>,
}

/// Why not all was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    Nothing,
    Places,
    Time,
}

pub fn looks_of(parts: Vec<String>) -> Vec<Look> {
    let each = parts.into_iter().enumerate().map(|(part, text)| Look {
        view: "",
        part,
        text,
        starts: Vec::new(),
        ends: Vec::new(),
    });
    each.collect()
}

/// Of all patterns in all looks.
pub fn places_in(patterns: &Patterns, looks: &[Look], options: &Options) -> (Vec<Place>, Left) {
    let begun = Instant::now();
    let is_late = || options.timeout.is_some_and(|most| begun.elapsed() > most);
    let mut places = Vec::new();
    let mut left = Left::Nothing;
    for (look, Look { text, .. }) in looks.iter().enumerate() {
        let mut units = Units::new(text);
        let mut last = usize::MAX;
        patterns.find(text, |pattern, range| {
            if pattern != last {
                units = Units::new(text);
                last = pattern;
            }
            if places.len() >= options.most_places {
                left = Left::Places;
            } else if places.len() % 64 == 63 && is_late() {
                left = Left::Time;
            } else {
                let [start, end] = [range.start, range.end].map(|byte| units.at(byte));
                places.push(Place {
                    pattern,
                    look,
                    start,
                    end,
                });
            }
            left == Left::Nothing
        });
        if left == Left::Nothing && is_late() {
            left = Left::Time;
        }
        if left != Left::Nothing {
            break;
        }
    }
    (places, left)
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
