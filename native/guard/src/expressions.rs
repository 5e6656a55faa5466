//! Regular expressions with lookaround and backreferences, for patterns in the syntax of Python. They backtrack, so each
//! search has a limit of steps and a deadline.

use fancy_regex::{Regex, RegexBuilder};

use crate::scan::Deadline;
use errors::{Result, anyhow};

/// Steps of backtracking for one match.
const BACKTRACK_LIMIT: usize = 1_000_000;
/// Maximum size in bytes of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 2 * 1024 * 1024;
/// Groups whose ends a match has.
const GROUPS: usize = 3;
/// End of a group that is not part of a match.
const NONE: u32 = u32::MAX;

pub struct Expressions(Vec<Regex>);

/// Matches of all patterns.
#[derive(Default)]
pub struct FoundExpressions {
    /// Per match: pattern, start, end, ends of the first three groups, in UTF-16 units. By pattern and start.
    pub matches: Vec<u32>,
    /// Patterns whose search was ended by a limit.
    pub incomplete: Vec<u32>,
}

impl Expressions {
    /// Fails with the index and the error of the first invalid pattern: `3: unclosed group`.
    pub fn compile(patterns: &[String]) -> Result<Self> {
        let compile = |(index, pattern): (usize, &String)| {
            let compiled = RegexBuilder::new(pattern)
                .backtrack_limit(BACKTRACK_LIMIT)
                .delegate_size_limit(MAX_PATTERN_BYTES)
                .build();
            compiled.map_err(|error| anyhow!("{index}: {error}"))
        };
        let compiled: Result<_> = patterns.iter().enumerate().map(compile).collect();
        Ok(Self(compiled?))
    }

    /// Finds all matches of each pattern, at most `max_matches` in total.
    pub fn find_all(&self, text: &str, max_matches: usize, deadline: Deadline) -> FoundExpressions {
        let mut found = FoundExpressions::default();
        let mut count = 0;
        for (index, regex) in self.0.iter().enumerate() {
            let pattern = u32::try_from(index).unwrap_or(NONE);
            let mut units = Units::new(text);
            let mut starts = regex.captures_iter(text);
            loop {
                if count >= max_matches || deadline.has_passed() {
                    found.incomplete.push(pattern);
                    break;
                }
                match starts.next() {
                    None => break,
                    Some(Err(_)) => {
                        found.incomplete.push(pattern);
                        break;
                    }
                    Some(Ok(captures)) => {
                        count += 1;
                        let start = captures.get(0).map_or(0, |whole| whole.start());
                        found.matches.push(pattern);
                        found.matches.push(units.at(start));
                        for group in 0..=GROUPS {
                            let end = captures.get(group).map(|found| found.end());
                            found
                                .matches
                                .push(end.map_or(NONE, |end| units.after(start, end)));
                        }
                    }
                }
            }
        }
        found
    }
}

/// Converts ascending offsets from bytes to UTF-16 units, in linear time in total.
struct Units<'a> {
    text: &'a str,
    byte: usize,
    unit: u32,
}

impl<'a> Units<'a> {
    fn new(text: &'a str) -> Self {
        let (byte, unit) = (0, 0);
        Self { text, byte, unit }
    }

    fn at(&mut self, byte: usize) -> u32 {
        self.unit += units_of(&self.text[self.byte..byte]);
        self.byte = byte;
        self.unit
    }

    /// Offset of `end` after the offset that `at` converted last, which may be later than the group's end.
    fn after(&self, start: usize, end: usize) -> u32 {
        match end.checked_sub(start) {
            Some(_) => self.unit + units_of(&self.text[start..end]),
            None => self.unit - units_of(&self.text[end..start]),
        }
    }
}

fn units_of(text: &str) -> u32 {
    let units: usize = text.chars().map(char::len_utf16).sum();
    u32::try_from(units).unwrap_or(NONE)
}
