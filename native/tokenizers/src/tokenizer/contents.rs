//! The tokens of texts without special ones, of long texts no more than can matter.

use tokenizers::utils::truncation::TruncationDirection;
use tokenizers::{Encoding, Model, OffsetType, PreTokenizer};

use super::{Input, Side, Tokenizer};
use crate::cut;
use crate::error::{At, Result};

/// Of what the tokenizer's own steps complain about.
pub(super) const PLACE: &str = "tokenizer";

/// How much more of a long text is taken where a part of it has too few tokens.
const GROWTH: usize = 4;

/// What is asked of a text's tokens.
#[derive(Clone, Copy)]
pub(crate) struct ContentOptions {
    /// How many there is room for.
    pub room: usize,
    /// Of which side, where that is not all.
    pub side: Side,
    /// Also where they are in the text, in bytes, and what they are called.
    pub places: bool,
}

impl Tokenizer {
    /// Of each text all tokens or, of a long one, more than `room` from the kept side.
    ///
    /// Where both are long and it matters, as many as show which of the two is longer. That may need
    /// all of the shorter one.
    pub(super) fn contents(
        &self,
        input: &Input,
        mut options: ContentOptions,
    ) -> Result<[Encoding; 2]> {
        let mut first = self.content(input.text, options)?;
        let Some(pair) = input.pair else {
            return Ok([first, Encoding::default()]);
        };
        let mut second = self.content(pair, options)?;
        let compares = input.truncation.compares_long_texts(options.room);
        // `room` tokens or fewer are all of a text.
        while compares && first.len().min(second.len()) > options.room {
            options.room = options.room.saturating_mul(16 * GROWTH);
            first = self.content(input.text, options)?;
            second = self.content(pair, options)?;
        }
        Ok([first, second])
    }

    /// All tokens or, of a long text, at least `room` + 1 from the kept side.
    fn content(&self, text: &str, options: ContentOptions) -> Result<Encoding> {
        let size = options.room.saturating_add(1).saturating_mul(8).max(4096);
        self.content_by_parts(text, options, size)
    }

    /// `size`: of the part that is tried first, in bytes.
    pub(crate) fn content_by_parts(
        &self,
        text: &str,
        options: ContentOptions,
        mut size: usize,
    ) -> Result<Encoding> {
        while self.is_cut && size < text.len() {
            if let Some(edge) = cut::edge(&self.inner, text, size, options.side) {
                let mut tokens = self.tokens(edge, options)?;
                if tokens.len() > options.room {
                    let skipped = match options.side {
                        Side::Start => 0,
                        Side::End => text.len() - edge.len(),
                    };
                    for (begin, end) in tokens.get_offsets_mut() {
                        *begin += skipped;
                        *end += skipped;
                    }
                    return Ok(tokens);
                }
            }
            size = size.saturating_mul(GROWTH);
        }
        self.tokens(text, options)
    }

    /// As `content`, from all of `text`, of whose words no more are encoded than needed.
    fn tokens(
        &self,
        text: &str,
        ContentOptions { room, side, places }: ContentOptions,
    ) -> Result<Encoding> {
        if let Some(words) = self.ascii_words.as_ref().filter(|_| !places) {
            let limit = match side {
                Side::Start => room.saturating_add(1),
                Side::End => usize::MAX,
            };
            if let Some(ids) = words.ids(&self.inner, text, limit)? {
                let ids = ids.into_iter();
                return Ok(ids.map(|id| (id, String::new(), (0, 0), None, 0)).collect());
            }
        }
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
        let offsets = if places {
            OffsetType::Byte
        } else {
            OffsetType::None
        };
        words.into_encoding(None, 0, offsets).at(PLACE)
    }
}
