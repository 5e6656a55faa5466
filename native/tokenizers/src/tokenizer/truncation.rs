//! How many tokens of each text stay where all of them are too many.

pub use crate::bridge::Truncation;
use crate::error::TooLong;

impl Truncation {
    /// Whether it makes a difference which of two texts is longer, though neither fits: when both are
    /// cut to half, the longer one gets the odd token.
    pub fn compares_long_texts(self, room: usize) -> bool {
        self == Self::LongestFirst && room % 2 == 1
    }

    /// How many of each are kept, so that `room` holds both; a text that is not there has 0 tokens.
    /// It is `truncate_encodings` of the crate (utils/truncation.rs), to the token.
    ///
    /// A count over `room` may be any such one, but for the order of the two where
    /// `compares_long_texts` says that it matters.
    pub fn kept(self, [first, second]: [usize; 2], room: usize) -> Result<[usize; 2], CannotCut> {
        if first.saturating_add(second) <= room {
            return Ok([first, second]);
        }
        match self {
            Self::DoNotTruncate => Err(CannotCut::MayNot),
            _ if room == 0 => Ok([0, 0]),
            Self::LongestFirst => Ok(longest_first([first, second], room)),
            Self::OnlyFirst if second < room => Ok([room - second, second]),
            Self::OnlyFirst => Err(CannotCut::First),
            _ if first < room => Ok([first, room - first]),
            _ => Err(CannotCut::Second),
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

/// Why a strategy does not make texts fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotCut {
    MayNot,
    /// The other text leaves it no token, or it is not there.
    First,
    Second,
}

impl CannotCut {
    pub fn error(self, has_pair: bool, max_length: usize) -> TooLong {
        let one_or_two = ["The text has", "The two texts have together"];
        let texts = one_or_two[usize::from(has_pair)];
        let reason = match self {
            Self::MayNot => "",
            Self::First => ", and the second one alone leaves no room for the first (only_first)",
            Self::Second if has_pair => {
                ", and the first one alone leaves no room for the second (only_second)"
            }
            Self::Second => ", and there is no second one to cut (only_second)",
        };
        TooLong(format!("{texts} more than {max_length} tokens{reason}."))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/truncation.rs"]
mod tests;
