//! Compiled patterns: regular expressions of the crate `regex`, and kinds of PII.

use std::ops::{ControlFlow, Range};

use errors::{Result, anyhow};
use regex::{Regex, RegexBuilder};

use crate::kinds::{KINDS, Kind, MatchSink};

/// Maximum size in bytes of a compiled pattern. `\w{1000}` exceeds it.
const MAX_BYTES: usize = 2 << 20;

/// Number of bytes that are searched between two deadline checks.
const WINDOW: usize = 64 << 10;
/// Number of candidates between two deadline checks.
const POLLS: u32 = 64;

/// A pattern of a guardrail policy.
pub enum Source<'a> {
    /// Name of an element of `KINDS`.
    Kind(&'a str),
    Regex(&'a str),
}

enum Pattern {
    Kind(&'static Kind),
    Regex {
        regex: Regex,
        /// Maximum length of a match in bytes; None: unlimited.
        longest: Option<usize>,
    },
}

pub struct Patterns(Vec<Pattern>);

/// Callbacks of a search.
pub struct Search<Found, IsLate> {
    /// Receives the index of the pattern and the range of the match in bytes. Break: stop the search.
    pub found: Found,
    /// True after the deadline.
    pub is_late: IsLate,
}

impl Patterns {
    /// Compiles patterns. Fails with the index and the error of the first invalid pattern: `3: unclosed group`.
    pub fn compile<'a>(sources: impl IntoIterator<Item = Source<'a>>) -> Result<Self> {
        let compiled = sources
            .into_iter()
            .enumerate()
            .map(|(index, source)| compile(&source).map_err(|why| anyhow!("{index}: {why}")));
        Ok(Self(compiled.collect::<Result<_>>()?))
    }

    /// Searches a text for all patterns. Checks the deadline before each pattern, within kinds of PII, and after each
    /// window of a pattern with bounded matches. Other patterns search the whole text at once.
    pub fn find<Found, IsLate>(
        &self,
        text: &str,
        search: &mut Search<Found, IsLate>,
    ) -> ControlFlow<()>
    where
        Found: FnMut(usize, Range<usize>) -> ControlFlow<()>,
        IsLate: Fn() -> bool,
    {
        for (index, pattern) in self.0.iter().enumerate() {
            let mut sink = Indexed {
                index,
                search,
                polls: 0,
            };
            sink.check()?;
            match pattern {
                Pattern::Kind(kind) => (kind.find)(text, &mut sink)?,
                Pattern::Regex { regex, longest } => find_all(regex, *longest, text, &mut sink)?,
            }
        }
        ControlFlow::Continue(())
    }
}

struct Indexed<'a, Found, IsLate> {
    index: usize,
    search: &'a mut Search<Found, IsLate>,
    polls: u32,
}

impl<Found, IsLate> MatchSink for Indexed<'_, Found, IsLate>
where
    Found: FnMut(usize, Range<usize>) -> ControlFlow<()>,
    IsLate: Fn() -> bool,
{
    fn found(&mut self, range: Range<usize>) -> ControlFlow<()> {
        (self.search.found)(self.index, range)
    }

    fn check(&mut self) -> ControlFlow<()> {
        match (self.search.is_late)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn poll(&mut self) -> ControlFlow<()> {
        self.polls += 1;
        match self.polls % POLLS {
            0 => self.check(),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Reports all non-empty matches of `Regex::find_iter`. If the length of matches is bounded, searches window by window.
fn find_all(
    regex: &Regex,
    longest: Option<usize>,
    text: &str,
    sink: &mut impl MatchSink,
) -> ControlFlow<()> {
    let Some(longest) = longest.filter(|longest| *longest <= text.len()) else {
        for one in regex.find_iter(text).filter(|one| !one.is_empty()) {
            sink.poll()?;
            sink.found(one.range())?;
        }
        return ControlFlow::Continue(());
    };
    let size = WINDOW.max(longest);
    let mut window = 0;
    let mut from = 0;
    while window < text.len() {
        let next = ceil_char_boundary(text, window + size);
        // Look-around assertions read at most one character.
        let seen = &text[..ceil_char_boundary(text, next + longest + 4)];
        while from < next {
            match regex.find_at(seen, from) {
                Some(one) if one.start() < next => {
                    if one.is_empty() {
                        from = ceil_char_boundary(text, one.end() + 1);
                    } else {
                        from = one.end();
                        sink.found(one.range())?;
                    }
                    sink.poll()?;
                }
                _ => from = next,
            }
        }
        window = next;
        sink.check()?;
    }
    ControlFlow::Continue(())
}

fn ceil_char_boundary(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at.min(text.len())
}

fn compile(source: &Source) -> Result<Pattern> {
    match source {
        Source::Kind(name) => {
            let kind = KINDS.iter().find(|kind| kind.name == *name);
            let kind = kind.ok_or_else(|| anyhow!("unknown kind of PII"))?;
            Ok(Pattern::Kind(kind))
        }
        Source::Regex(text) => {
            let built = RegexBuilder::new(text).size_limit(MAX_BYTES).build();
            let regex = built.map_err(|error| anyhow!("{}", describe(&error)))?;
            if regex.is_match("") {
                return Err(anyhow!("matches the empty text"));
            }
            let longest = regex_syntax::parse(text)?.properties().maximum_len();
            Ok(Pattern::Regex { regex, longest })
        }
    }
}

/// Error in one line. The crate's message spans several lines.
fn describe(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            format!("takes more than {} MB compiled", MAX_BYTES >> 20)
        }
        _ => {
            let drawn = error.to_string();
            let last = drawn.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        }
    }
}
