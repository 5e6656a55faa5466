//! Kinds of personal data whose form, or whose checksum, says what they are. Each kind is found in any
//! surroundings: its search tries every place at which a value may begin and end, and reports all that
//! the valid values cover. `tests/unit/guard/surroundings.rs` states that property.

use std::ops::{ControlFlow, Range};

use super::forms::is_dash;
use super::{cards, emails, ibans, ips, phones, urls};

/// Receives what a search finds.
pub trait Sink {
    /// A value, in bytes of the text. Break: no further values are wanted.
    fn found(&mut self, range: Range<usize>) -> ControlFlow<()>;
    /// Break: the deadline has passed.
    fn check(&mut self) -> ControlFlow<()>;
    /// The same, called once per candidate: looks at the clock now and then.
    fn poll(&mut self) -> ControlFlow<()>;
}

pub struct Kind {
    pub name: &'static str,
    /// Reports values in the order of the text, none over another.
    pub find: fn(&str, &mut dyn Sink) -> ControlFlow<()>,
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

/// Joins values that overlap: where two readings of the same characters are valid, both are covered.
pub struct Merged<'a> {
    sink: &'a mut dyn Sink,
    pending: Option<Range<usize>>,
}

impl<'a> Merged<'a> {
    pub fn new(sink: &'a mut dyn Sink) -> Self {
        Self {
            sink,
            pending: None,
        }
    }

    pub fn poll(&mut self) -> ControlFlow<()> {
        self.sink.poll()
    }

    /// Values in the order of their beginnings.
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

/// What may stand between groups of digits or letters: spaces, line breaks, dashes, dots; `+` is a space
/// in a URL's query.
pub fn is_gap(one: char) -> bool {
    match one {
        ' ' | '-' | '.' | '+' | '\n' | '\r' | '\t' => true,
        one => !one.is_ascii_graphic() && (one.is_whitespace() || is_dash(one)),
    }
}

/// The length of a gap in characters; CR LF is one.
pub fn units_in(gap: &str) -> usize {
    gap.chars().count() - gap.matches("\r\n").count()
}
