//! Number of tokens that each text keeps.

pub use crate::bridge::Truncation;

/// Error of a client's input: it has more tokens than the limit, and the truncation strategy does not permit the
/// necessary truncation.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TooLong(pub String);

impl Truncation {
    /// True if the lengths of two long texts must be compared: if `room` is odd, the longer text keeps one more token.
    pub fn needs_longer_text(self, room: usize) -> bool {
        self == Self::LongestFirst && room % 2 == 1
    }

    /// Number of tokens that each text keeps, so that `room` tokens hold both; a missing text has 0 tokens. Equal to
    /// `truncate_encodings` of the crate (utils/truncation.rs).
    ///
    /// A count above `room` need not be exact, except that `needs_longer_text` requires the right order.
    pub fn kept_counts(
        self,
        [first, second]: [usize; 2],
        room: usize,
    ) -> Result<[usize; 2], TruncationError> {
        if first.saturating_add(second) <= room {
            return Ok([first, second]);
        }
        match self {
            Self::DoNotTruncate => Err(TruncationError::NotAllowed),
            _ if room == 0 => Ok([0, 0]),
            Self::LongestFirst => Ok(longest_first([first, second], room)),
            Self::OnlyFirst if second < room => Ok([room - second, second]),
            Self::OnlyFirst => Err(TruncationError::First),
            _ if first < room => Ok([first, room - first]),
            _ => Err(TruncationError::Second),
        }
    }
}

fn longest_first([first, second]: [usize; 2], room: usize) -> [usize; 2] {
    let shorter = first.min(second).min(room / 2);
    let longer = room - shorter;
    if first > second {
        [longer, shorter]
    } else {
        [shorter, longer]
    }
}

/// Reason why a strategy cannot truncate the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncationError {
    NotAllowed,
    /// The second text leaves no room for the first.
    First,
    Second,
}

impl TruncationError {
    pub fn error(self, has_pair: bool, max_length: usize) -> TooLong {
        let one_or_two = ["The text has", "The two texts together have"];
        let texts = one_or_two[usize::from(has_pair)];
        let reason = match self {
            Self::NotAllowed => "",
            Self::First => ", and the second text leaves no room for the first (only_first)",
            Self::Second if has_pair => {
                ", and the first text leaves no room for the second (only_second)"
            }
            Self::Second => ", and there is no second text to truncate (only_second)",
        };
        TooLong(format!("{texts} more than {max_length} tokens{reason}."))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/truncation.rs"]
mod tests;
