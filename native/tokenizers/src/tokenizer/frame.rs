//! Frames: fixed texts around the texts of a decoder that scores pairs.

use super::{Input, Tokenizer, Truncation, TruncationError, with_room};
use crate::backend::{Part, Templates};
pub use crate::bridge::Frame;
use errors::{At, Result};

impl Tokenizer {
    /// Replaces the special tokens of the tokenizer by those of a frame. The texts of a frame are tokenized one by one.
    /// A frame with a maximum length replaces the limit of tokenizer_config.json.
    pub fn set_frame(&mut self, frame: &Frame) -> Result<()> {
        let before = self.frame_ids(&frame.before)?;
        let between = self.frame_ids(&frame.between)?;
        let after = self.frame_ids(&frame.after)?;
        let outside = frame.times_before * before.len() + frame.times_after * after.len();
        let [first, second] = [vec![Part::Text(0, 0)], vec![Part::Text(1, 0)]];
        self.templates = Templates {
            single: [&before, &first, &after]
                .into_iter()
                .flatten()
                .copied()
                .collect(),
            pair: Some(
                [&before, &first, &between, &second, &after]
                    .into_iter()
                    .flatten()
                    .copied()
                    .collect(),
            ),
        };
        let limit = match frame.max_length {
            0 => self.max_length,
            own => own.saturating_add(outside),
        };
        self.max_length = with_room(limit.min(self.position_limit), &self.templates)?;
        self.frame_outside = Some(outside);
        if let [first, second] = frame.kept_end.as_slice() {
            self.kept_end = shared_end(&self.ids_of(first)?, &self.ids_of(second)?);
        }
        Ok(())
    }

    /// First id of a text, without special tokens.
    pub fn first_id(&self, text: &str) -> Result<Option<u32>> {
        Ok(self
            .ids_of(text)?
            .first()
            .and_then(|id| u32::try_from(*id).ok()))
    }

    fn frame_ids(&self, texts: &[String]) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        for text in texts {
            parts.extend(self.ids_of(text)?.into_iter().map(|id| Part::Id(id, 0)));
        }
        Ok(parts)
    }

    fn ids_of(&self, text: &str) -> Result<Vec<i64>> {
        let encoding = self.inner.encode_fast(text, false).at("frame")?;
        Ok(encoding.get_ids().iter().map(|id| i64::from(*id)).collect())
    }

    /// Restores the end of a truncated text. Source: sentence-transformers, base/modules/transformer.py
    /// (`_restore_chat_template_suffix`).
    pub(super) fn restore_end(&self, input_ids: &mut [i64]) {
        let count = self.kept_end.len().min(input_ids.len());
        let [from, to] = [self.kept_end.len() - count, input_ids.len() - count];
        input_ids[to..].copy_from_slice(&self.kept_end[from..]);
    }

    /// Number of tokens that a query and a document keep in a frame: at most three quarters of the maximum length for
    /// the query, and the rest for the document. Sources: FlagEmbedding, inference/reranker/decoder_only/base.py;
    /// mxbai-rerank, mxbai_rerank_v2.py (`prepare_inputs`).
    pub(super) fn kept_in_frame(
        &self,
        input: &Input,
        outside: usize,
        [first, second]: [usize; 2],
        room: usize,
    ) -> Result<[usize; 2], TruncationError> {
        let most = self.max_tokens(input).saturating_sub(outside);
        let kept = [first.min(most * 3 / 4), second.min(most)];
        Truncation::OnlySecond.kept_counts(kept, room)
    }
}

/// End that two lists share; empty if one of them is the end of the other. Source: sentence-transformers,
/// base/modules/transformer.py (`_chat_template_suffix_ids`).
fn shared_end(first: &[i64], second: &[i64]) -> Vec<i64> {
    let pairs = first.iter().rev().zip(second.iter().rev());
    let count = pairs.take_while(|(one, other)| one == other).count();
    if count == first.len().min(second.len()) {
        return Vec::new();
    }
    first[first.len() - count..].to_vec()
}
