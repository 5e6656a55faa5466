//! Tokens of a whole text, and the text of tokens, for clients that inspect tokens.

use tokenizers::PostProcessor;

use super::offsets::{EncodingWithOffsets, WindowTokens};
use super::{EncodeOptions, Side, Tokenizer};
use crate::backend::Part;
use errors::{At, Result};

/// Template without special tokens.
pub(super) const TEXT_ONLY: [Part; 1] = [Part::Text(0, 0)];

impl Tokenizer {
    /// Encodes the whole text without a limit. Offsets are in bytes, and may split a character.
    pub fn encode_whole_text(
        &self,
        text: &str,
        add_special_tokens: bool,
    ) -> Result<EncodingWithOffsets> {
        let options = EncodeOptions {
            room: usize::MAX,
            side: Side::Start,
            with_offsets: true,
        };
        let mut tokens = self.run_pipeline(text, options)?;
        if let Some(processor) = self.inner.get_post_processor() {
            tokens = processor
                .process(tokens, None, false)
                .at("post_processor")?;
        }
        let byte_of = |offset: &usize| u32::try_from(*offset).unwrap_or(u32::MAX);
        let ranges = tokens.get_offsets().iter();
        let contents = WindowTokens {
            ids: tokens.get_ids().to_vec(),
            offsets: ranges
                .flat_map(|(begin, end)| [byte_of(begin), byte_of(end)])
                .collect(),
        };
        let template = match add_special_tokens {
            true => self.templates.single.as_slice(),
            false => &TEXT_ONLY,
        };
        let mut encoding = EncodingWithOffsets::default();
        encoding.push(template, &[contents, WindowTokens::default()]);
        Ok(encoding)
    }

    /// Decodes ids to text, as `decode` of the tokenizers library does. Unknown ids are ignored.
    pub fn decode(&self, ids: &[u32], skip_special_tokens: bool) -> Result<String> {
        self.inner.decode(ids, skip_special_tokens).at("decoder")
    }

    /// Index of the first id without a token; `None` if all ids have a token.
    pub fn find_unknown_id(&self, ids: &[u32]) -> Option<usize> {
        ids.iter()
            .position(|id| self.inner.id_to_token(*id).is_none())
    }
}
