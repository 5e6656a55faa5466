//! Queries of the vocabulary: ids, tokens and decoding.

use std::path::Path;

use errors::{At, Result, ensure};
use tokenizers::{Decoder, Model, ModelWrapper};

use super::Tokenizer;
use crate::files::TOKENIZER;

/// Vocabulary files. A tokenizer class reads the first file of this list that exists.
const VOCABULARIES: [&str; 7] = [
    TOKENIZER,
    "tokenizer.model",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
];

impl Tokenizer {
    /// Fails if an id exceeds the embedding table. `rows`: number of rows of the table.
    pub fn require_ids_below(&self, rows: usize) -> Result<()> {
        if let Some((id, token)) = &self.highest {
            ensure!(
                (*id as usize) < rows,
                "{}: `{token}` has the id {id}, but the embedding table has {rows} rows: \
                 tokenizer and weights belong to different models",
                self.file
            );
        }
        Ok(())
    }

    /// Id of `pad_token`; `None` if no file names one, or it has no id.
    pub fn pad_token_id(&self) -> Option<u32> {
        self.pad_token_id
    }

    /// Id of `mask_token`, otherwise of `eos_token`, with which sentence-transformers fills ColBERT queries
    /// (`_validate_query_expansion_token`).
    pub fn expansion_token_id(&self) -> Option<u32> {
        self.expansion_token_id
    }

    /// Id of a token of the vocabulary.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// Token of an id; empty if the id is unknown.
    pub fn id_to_token(&self, id: u32) -> String {
        self.inner.id_to_token(id).unwrap_or_default()
    }

    /// Decodes tokens to text, as `convert_tokens_to_string` of transformers does.
    pub fn convert_tokens_to_string(&self, tokens: Vec<String>) -> Result<String> {
        match self.inner.get_decoder() {
            Some(decoder) => decoder.decode(tokens).at("decoder"),
            None => Ok(tokens.join(" ")),
        }
    }

    /// True if tokens that continue a word have a prefix, such as `##`.
    pub fn has_subword_prefix(&self) -> bool {
        match self.inner.get_model() {
            ModelWrapper::WordPiece(model) => !model.continuing_subword_prefix.is_empty(),
            ModelWrapper::BPE(model) => {
                let prefix = model.continuing_subword_prefix.as_ref();
                prefix.is_some_and(|prefix| !prefix.is_empty())
            }
            _ => false,
        }
    }

    /// Id of `unk_token`; `None` if no file names one.
    pub fn unk_token_id(&self) -> Option<u32> {
        self.unk_token_id
    }
}

/// Largest id and its token.
pub fn highest_id(tokenizer: &tokenizers::Tokenizer) -> Option<(u32, String)> {
    let added = tokenizer.get_added_tokens_decoder().into_iter();
    let added = added.map(|(id, token)| (id, token.content)).max();
    let own = match tokenizer.get_model() {
        // The pieces are in the order of their ids.
        ModelWrapper::Unigram(model) => {
            let size = u32::try_from(model.get_vocab_size()).ok();
            let last = size.and_then(|size| size.checked_sub(1));
            last.and_then(|id| Some((id, model.id_to_token(id)?)))
        }
        model => {
            let vocab = model.get_vocab().into_iter();
            vocab.map(|(token, id)| (id, token)).max()
        }
    };
    added.max(own)
}

/// Name of the vocabulary file that the class reads.
pub fn file_name(directory: &Path) -> &'static str {
    let mut names = VOCABULARIES.into_iter();
    let found = names.find(|name| directory.join(name).exists());
    found.unwrap_or(TOKENIZER)
}
