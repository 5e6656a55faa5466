//! Patterns, compiled once: regular expressions of the crate `regex`, and kinds of data.

use std::ops::Range;

use anyhow::{Result, anyhow};
use regex::{Regex, RegexBuilder};

use super::kinds::{KINDS, Kind};

/// Of one compiled pattern, in bytes: `\w{1000}` would take more.
const MOST_BYTES: usize = 2 << 20;

/// A pattern as it is written.
pub enum Source<'a> {
    /// The name of one of `KINDS`.
    Kind(&'a str),
    Regex(&'a str),
}

struct Pattern {
    regex: Regex,
    kind: Option<&'static Kind>,
}

pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// Fails with what is wrong with the first bad one: `3: <why>`, where 3 is its place in `sources`.
    pub fn compile<'a>(sources: impl IntoIterator<Item = Source<'a>>) -> Result<Self> {
        let compiled = sources
            .into_iter()
            .enumerate()
            .map(|(index, source)| compile(&source).map_err(|why| anyhow!("{index}: {why}")));
        Ok(Self(compiled.collect::<Result<_>>()?))
    }

    /// What each pattern finds in a text, in bytes; `found` is told the place of the pattern, and says
    /// whether to go on.
    pub fn find(&self, text: &str, mut found: impl FnMut(usize, Range<usize>) -> bool) -> bool {
        for (index, Pattern { regex, kind }) in self.0.iter().enumerate() {
            for candidate in regex.find_iter(text).map(|one| one.range()) {
                let ranges = match kind {
                    Some(kind) => (kind.judge)(text, candidate),
                    None => vec![candidate],
                };
                for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                    if !found(index, range) {
                        return false;
                    }
                }
            }
        }
        true
    }
}

fn compile(source: &Source) -> Result<Pattern> {
    match source {
        Source::Kind(name) => {
            let kind = KINDS.iter().find(|kind| kind.name == *name);
            let kind = kind.ok_or_else(|| anyhow!("there is no such kind"))?;
            Ok(Pattern {
                regex: Regex::new(kind.candidate)?,
                kind: Some(kind),
            })
        }
        Source::Regex(text) => {
            let built = RegexBuilder::new(text).size_limit(MOST_BYTES).build();
            let regex = built.map_err(|error| anyhow!("{}", describe(&error)))?;
            if regex.is_match("") {
                return Err(anyhow!("matches the empty text"));
            }
            Ok(Pattern { regex, kind: None })
        }
    }
}

/// In one line: the crate draws the place over several.
fn describe(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            format!("takes more than {} MB compiled", MOST_BYTES >> 20)
        }
        _ => {
            let drawn = error.to_string();
            let last = drawn.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        }
    }
}
