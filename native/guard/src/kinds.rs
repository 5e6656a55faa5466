//! Kinds of PII that are recognizable by their format or checksum. Values are found in any context: a search tries
//! every start and end position, and reports the union of all valid values. `tests/unit/surroundings.rs` tests this
//! property.

use std::ops::{ControlFlow, Range};

use crate::normalization::is_dash;
use crate::{cards, emails, ibans, ips, phones, urls};

/// Receiver of matches.
pub trait MatchSink {
    /// Reports a match, in bytes of the text. Break: stop the search.
    fn found(&mut self, range: Range<usize>) -> ControlFlow<()>;
    /// Break: the deadline has passed.
    fn check(&mut self) -> ControlFlow<()>;
    /// Like `check`, for each candidate: reads the clock only now and then.
    fn poll(&mut self) -> ControlFlow<()>;
}

pub struct Kind {
    pub name: &'static str,
    /// Reports matches in the order of the text, without overlaps.
    pub find: fn(&str, &mut dyn MatchSink) -> ControlFlow<()>,
}

pub const KINDS: [Kind; 6] = [
    Kind {
        name: "email",
        find: emails::find,
    },
    Kind {
        name: "card",
        find: cards::find,
    },
    Kind {
        name: "iban",
        find: ibans::find,
    },
    Kind {
        name: "ip",
        find: ips::find,
    },
    Kind {
        name: "phone",
        find: phones::find,
    },
    Kind {
        name: "url",
        find: urls::find,
    },
];

/// Merges overlapping matches: if several interpretations are valid, their union is reported.
pub struct MergedMatches<'a> {
    sink: &'a mut dyn MatchSink,
    pending: Option<Range<usize>>,
}

impl<'a> MergedMatches<'a> {
    pub fn new(sink: &'a mut dyn MatchSink) -> Self {
        Self {
            sink,
            pending: None,
        }
    }

    pub fn poll(&mut self) -> ControlFlow<()> {
        self.sink.poll()
    }

    /// Adds a match. Matches must be added in the order of their starts.
    pub fn add(&mut self, range: Range<usize>) -> ControlFlow<()> {
        match &mut self.pending {
            Some(pending) if range.start < pending.end => {
                pending.end = pending.end.max(range.end);
                ControlFlow::Continue(())
            }
            pending => match pending.replace(range) {
                Some(done) => self.sink.found(done),
                None => ControlFlow::Continue(()),
            },
        }
    }

    pub fn end(self) -> ControlFlow<()> {
        match self.pending {
            Some(done) => self.sink.found(done),
            None => ControlFlow::Continue(()),
        }
    }
}

/// True for separators between groups of digits or letters: spaces, line breaks, dashes, dots, and `+`, which is a
/// space in URL queries.
pub fn is_gap(one: char) -> bool {
    match one {
        ' ' | '-' | '.' | '+' | '\n' | '\r' | '\t' => true,
        one => !one.is_ascii_graphic() && (one.is_whitespace() || is_dash(one)),
    }
}

/// Length of a gap in characters; CR LF counts as one.
pub fn units_in(gap: &str) -> usize {
    gap.chars().count() - gap.matches("\r\n").count()
}
