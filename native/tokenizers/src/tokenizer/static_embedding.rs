//! Encoding for static embeddings: without special tokens.
//! Sources: sentence-transformers, modules/static_embedding.py (`StaticEmbedding.preprocess`); model2vec, model.py
//! (`StaticModel.encode`).

use serde_json::{Map, Value};
use tokenizers::ModelWrapper;

use super::{Input, Tokenizer};
use crate::backend::{Part, Templates};
use crate::bridge::Encoding;
use errors::Result;

/// Entries of tokenizer.json.
#[derive(Default)]
pub(super) struct Settings {
    /// `truncation.max_length`.
    truncation: Option<usize>,
    /// `model.unk_id` of a Unigram model.
    unknown_id: Option<u32>,
}

impl Settings {
    pub(super) fn read(file: Option<&Map<String, Value>>) -> Self {
        let number = |object: &str, key: &str| file?.get(object)?.get(key)?.as_u64();
        Self {
            truncation: number("truncation", "max_length").and_then(|n| usize::try_from(n).ok()),
            unknown_id: number("model", "unk_id").and_then(|n| u32::try_from(n).ok()),
        }
    }
}

impl Tokenizer {
    /// Encodes single texts without special tokens, up to the truncation of tokenizer.json.
    pub fn omit_special_tokens(&mut self) {
        self.templates = Templates {
            single: vec![Part::Text(0, 0)],
            pair: None,
        };
        if let Some(length) = self.static_settings.truncation {
            self.max_length = length.min(self.position_limit);
        }
    }

    /// Encodes texts as model2vec: at most `max_length` times the median token length of their characters are read,
    /// and unknown tokens are removed after truncation. `max_length` 0: unlimited.
    pub fn follow_model2vec(&mut self, max_length: usize) -> Result<()> {
        self.max_length = self.position_limit;
        if max_length > 0 {
            self.max_length = max_length.min(self.position_limit);
            self.max_characters = Some(max_length.saturating_mul(self.median_token_length()));
        }
        let unknown = match self.inner.get_model() {
            ModelWrapper::WordPiece(model) => self.inner.token_to_id(&model.unk_token),
            ModelWrapper::WordLevel(model) => self.inner.token_to_id(&model.unk_token),
            ModelWrapper::BPE(model) => {
                let token = model.unk_token.as_deref();
                token.and_then(|token| self.inner.token_to_id(token))
            }
            ModelWrapper::Unigram(_) => self.static_settings.unknown_id,
        };
        self.removed_id = unknown;
        Ok(())
    }

    /// Median of the lengths in characters, rounded down.
    fn median_token_length(&self) -> usize {
        let vocabulary = self.inner.get_vocab(true);
        let mut lengths: Vec<usize> = vocabulary.keys().map(|key| key.chars().count()).collect();
        lengths.sort_unstable();
        let middle = lengths.len() / 2;
        match lengths.len() {
            0 => 0,
            odd if odd % 2 == 1 => lengths[middle],
            _ => usize::midpoint(lengths[middle - 1], lengths[middle]),
        }
    }

    /// Returns true if characters were cut off.
    pub(super) fn cut_characters(&self, input: &mut Input) -> bool {
        let Some(most) = self.max_characters else {
            return false;
        };
        let Some((end, _)) = input.text.char_indices().nth(most) else {
            return false;
        };
        input.text = &input.text[..end];
        true
    }

    /// Removes the tokens of `removed_id`.
    pub(super) fn remove_tokens(&self, encoding: &mut Encoding) {
        let Some(removed) = self.removed_id.map(i64::from) else {
            return;
        };
        encoding.input_ids.retain(|id| *id != removed);
        encoding.token_type_ids.truncate(encoding.input_ids.len());
    }
}
