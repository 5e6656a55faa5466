//! Encoding of texts without special tokens. Long texts are encoded only as far as necessary.

use tokenizers::utils::truncation::TruncationDirection;
use tokenizers::{Encoding, Model, OffsetType, PreTokenizer};

use super::{Input, Side, Tokenizer};
use crate::early_truncation;
use errors::{At, Result};

/// Prefix of errors of pipeline steps.
pub(super) const ERROR_PREFIX: &str = "tokenizer";

/// Growth factor of the slice if it has too few tokens.
const GROWTH: usize = 4;

/// Number and side of the tokens that the caller needs.
#[derive(Clone, Copy)]
pub(crate) struct EncodeOptions {
    /// Maximum number of tokens that the caller keeps.
    pub room: usize,
    /// Side of a long text that the caller keeps.
    pub side: Side,
    /// Also returns tokens as strings and their offsets in bytes.
    pub with_offsets: bool,
}

impl Tokenizer {
    /// Ids of `encode_texts`. A short ASCII text needs no `Encoding`, whose lists take as long as its tokenization.
    pub(super) fn encode_ids(
        &self,
        input: &Input,
        options: EncodeOptions,
    ) -> Result<[Vec<u32>; 2]> {
        if input.pair.is_none() && input.text.len() <= first_slice(options) {
            if let Some(ids) = self.ascii_ids(input.text, options)? {
                return Ok([ids, Vec::new()]);
            }
        }
        let contents = self.encode_texts(input, options)?;
        Ok(contents.map(|encoding| encoding.get_ids().to_vec()))
    }

    /// Encodes each text completely or, if it is long, so far that it has more than `room` tokens at the kept side.
    ///
    /// If both texts are long and `LongestFirst` needs the longer one, encodes enough of both to compare their lengths.
    /// This may need the whole shorter text.
    pub(super) fn encode_texts(
        &self,
        input: &Input,
        mut options: EncodeOptions,
    ) -> Result<[Encoding; 2]> {
        let mut first = self.encode_text(input.text, options)?;
        let Some(pair) = input.pair else {
            return Ok([first, Encoding::default()]);
        };
        let mut second = self.encode_text(pair, options)?;
        let compares = input.truncation.needs_longer_text(options.room);
        // A text with at most `room` tokens was encoded completely.
        while compares && first.len().min(second.len()) > options.room {
            options.room = options.room.saturating_mul(16 * GROWTH);
            first = self.encode_text(input.text, options)?;
            second = self.encode_text(pair, options)?;
        }
        Ok([first, second])
    }

    /// Encodes the whole text or, if it is long, so far that it has at least `room` + 1 tokens at the kept side.
    fn encode_text(&self, text: &str, options: EncodeOptions) -> Result<Encoding> {
        self.encode_by_slices(text, options, first_slice(options))
    }

    /// Encodes slices of increasing size until one has enough tokens. `size`: size of the first slice in bytes.
    pub(crate) fn encode_by_slices(
        &self,
        text: &str,
        options: EncodeOptions,
        mut size: usize,
    ) -> Result<Encoding> {
        while self.truncates_early && size < text.len() {
            if let Some(slice) = early_truncation::safe_slice(&self.inner, text, size, options.side)
            {
                let mut tokens = self.run_pipeline(slice, options)?;
                if tokens.len() > options.room {
                    let skipped = match options.side {
                        Side::Start => 0,
                        Side::End => text.len() - slice.len(),
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
        self.run_pipeline(text, options)
    }

    /// Runs normalizer, pre-tokenizer and model on `text`. The model stops after `room` + 1 tokens.
    pub(super) fn run_pipeline(&self, text: &str, options: EncodeOptions) -> Result<Encoding> {
        if let Some(ids) = self.ascii_ids(text, options)? {
            let ids = ids.into_iter();
            return Ok(ids.map(|id| (id, String::new(), (0, 0), None, 0)).collect());
        }
        let EncodeOptions {
            room,
            side,
            with_offsets,
        } = options;
        let added = self.inner.get_added_vocabulary();
        let mut words = added.extract_and_normalize(self.inner.get_normalizer(), text);
        if let Some(splitter) = self.inner.get_pre_tokenizer() {
            splitter.pre_tokenize(&mut words).at(ERROR_PREFIX)?;
        }
        let direction = match side {
            Side::Start => TruncationDirection::Right,
            Side::End => TruncationDirection::Left,
        };
        let limit = Some((room.saturating_add(1), direction));
        let model = self.inner.get_model();
        model
            .tokenize_in_pretokenized(&mut words, limit)
            .at(ERROR_PREFIX)?;
        let offsets = if with_offsets {
            OffsetType::Byte
        } else {
            OffsetType::None
        };
        words.into_encoding(None, 0, offsets).at(ERROR_PREFIX)
    }
    /// Ids of a text for which the fast path of BERT tokenizers suffices; otherwise `None`.
    fn ascii_ids(&self, text: &str, options: EncodeOptions) -> Result<Option<Vec<u32>>> {
        let Some(words) = self
            .ascii_wordpiece
            .as_ref()
            .filter(|_| !options.with_offsets)
        else {
            return Ok(None);
        };
        let limit = match options.side {
            Side::Start => options.room.saturating_add(1),
            Side::End => usize::MAX,
        };
        words.ids(&self.inner, text, limit)
    }
}

/// Size in bytes of the first slice of a long text. Shorter texts are encoded completely.
fn first_slice(options: EncodeOptions) -> usize {
    options.room.saturating_add(1).saturating_mul(8).max(4096)
}
