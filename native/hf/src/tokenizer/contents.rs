//! The tokens of texts without special ones, of long texts no more than can matter.

use tokenizers::utils::truncation::TruncationDirection;
use tokenizers::{Model, OffsetType, PreTokenizer};

use super::{Input, Side, Tokenizer};
use crate::cut;
use crate::error::{At, Result};

/// How much more of a long text is taken where a part of it has too few tokens.
const GROWTH: usize = 4;

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
        let mut first = self.content(input.text, room, side)?;
        let Some(pair) = input.pair else {
            return Ok([first, Vec::new()]);
        };
        let mut second = self.content(pair, room, side)?;
        let compares = input.truncation.compares_long_texts(room);
        // `room` tokens or fewer are all of a text.
        while compares && first.len().min(second.len()) > room {
            room = room.saturating_mul(16 * GROWTH);
            first = self.content(input.text, room, side)?;
            second = self.content(pair, room, side)?;
        }
        Ok([first, second])
    }

    /// All tokens or, of a long text, at least `room` + 1 from the kept side.
    fn content(&self, text: &str, room: usize, side: Side) -> Result<Vec<u32>> {
        let size = room.saturating_add(1).saturating_mul(8).max(4096);
        self.content_by_parts(text, (room, side), size)
    }

    /// `size`: of the part that is tried first, in bytes.
    pub(crate) fn content_by_parts(
        &self,
        text: &str,
        (room, side): (usize, Side),
        mut size: usize,
    ) -> Result<Vec<u32>> {
        while self.is_cut && size < text.len() {
            if let Some(edge) = cut::edge(&self.inner, text, size, side) {
                let ids = self.ids(edge, room, side)?;
                if ids.len() > room {
                    return Ok(ids);
                }
            }
            size = size.saturating_mul(GROWTH);
        }
        self.ids(text, room, side)
    }

    /// As `content`, from all of `text`, of whose words no more are encoded than needed.
    pub(crate) fn ids(&self, text: &str, room: usize, side: Side) -> Result<Vec<u32>> {
        const PLACE: &str = "tokenizer";
        let added = self.inner.get_added_vocabulary();
        let mut words = added.extract_and_normalize(self.inner.get_normalizer(), text);
        if let Some(splitter) = self.inner.get_pre_tokenizer() {
            splitter.pre_tokenize(&mut words).at(PLACE)?;
        }
        let direction = match side {
            Side::Start => TruncationDirection::Right,
            Side::End => TruncationDirection::Left,
        };
        let limit = Some((room.saturating_add(1), direction));
        let model = self.inner.get_model();
        model
            .tokenize_in_pretokenized(&mut words, limit)
            .at(PLACE)?;
        // "None": without the offsets into the text, which nothing needs.
        let encoding = words.into_encoding(None, 0, OffsetType::None);
        Ok(encoding.at(PLACE)?.get_ids().to_vec())
    }
}
