//! The tokens of texts without special ones, of long texts no more than can matter.

use super::{Input, Side, Tokenizer};
use crate::cut;
use crate::error::Result;

/// Tokens of one end of a text, or all.
struct Content {
    ids: Vec<u32>,
    is_whole: bool,
}

impl Tokenizer {
    /// Of each text all tokens or, of a long one, more than `room` from the kept side.
    ///
    /// Where both are long and it matters, as many as show which of the two is longer. That may need
    /// all of the shorter one.
    pub(super) fn contents(
        &self,
        input: &Input,
        mut room: usize,
        side: Side,
    ) -> Result<[Vec<u32>; 2]> {
        const GROWTH: usize = 8;
        let mut first = self.content(input.text, room, side)?;
        let Some(pair) = input.pair else {
            return Ok([first.ids, Vec::new()]);
        };
        let mut second = self.content(pair, room, side)?;
        let compares = input.truncation.compares_long_texts(room);
        while compares && first.ids.len().min(second.ids.len()) > room {
            room = match (first.is_whole, second.is_whole) {
                (true, true) => break,
                (true, false) => first.ids.len(),
                (false, true) => second.ids.len(),
                (false, false) => room.saturating_mul(GROWTH),
            };
            if !first.is_whole {
                first = self.content(input.text, room, side)?;
            }
            if !second.is_whole {
                second = self.content(pair, room, side)?;
            }
        }
        Ok([first.ids, second.ids])
    }

    /// All tokens or, of a long text, at least `room` + 1 from the kept side.
    ///
    /// Encoding a whole megabyte to keep 510 tokens of it would cost a second.
    fn content(&self, text: &str, room: usize, side: Side) -> Result<Content> {
        let cut = match &self.cutting {
            Some(cutting) => cutting.ids(&self.inner, text, room, side)?,
            None => None,
        };
        Ok(match cut {
            Some(ids) => Content {
                is_whole: ids.len() <= room,
                ids,
            },
            None => Content {
                ids: cut::encode(&self.inner, text)?,
                is_whole: true,
            },
        })
    }
}
