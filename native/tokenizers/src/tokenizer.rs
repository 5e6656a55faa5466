//! Encodes a text or a text pair to ids, truncated to the model's limit.

use std::path::Path;

use tokenizers::normalizers::{Lowercase, Sequence};
use tokenizers::{AddedToken, NormalizerWrapper};

use crate::backend::{self, Part, Source, Template, Templates, special_token_count};
use crate::config::TokenizerConfig;
use crate::early_truncation;
use crate::files::{self, TOKENIZER};
use crate::tokenizer_class;
use errors::{Result, anyhow, ensure};

mod ascii_wordpiece;
mod frame;
mod gliner2_words;
mod offsets;
mod short_words;
mod static_embedding;
pub(crate) mod text_encoding;
mod truncation;
mod vocabulary;
mod whole_text;
mod words;

pub use crate::bridge::{Encoding, Family};
pub use crate::early_truncation::Side;
pub use offsets::Windows;
use truncation::TruncationError;
pub use truncation::{TooLong, Truncation};
pub use words::WordsInput;

use ascii_wordpiece::AsciiWordPiece;
use text_encoding::EncodeOptions;

#[cfg(test)]
#[path = "../tests/unit/tokenizer.rs"]
mod tests;

/// A tokenizer. Thread-safe.
pub struct Tokenizer {
    pub(crate) inner: tokenizers::Tokenizer,
    templates: Templates,
    max_length: usize,
    position_limit: usize,
    pad_token_id: Option<u32>,
    kept_side: Side,
    /// True if a long text may be truncated before tokenization.
    pub(crate) truncates_early: bool,
    /// Fast path for BERT tokenizers.
    ascii_wordpiece: Option<AsciiWordPiece>,
    /// Largest id and its token.
    highest: Option<(u32, String)>,
    /// Name of the vocabulary file.
    file: &'static str,
    /// Id of `unk_token`.
    unk_token_id: Option<u32>,
    /// Id of the token that fills ColBERT queries to their length.
    expansion_token_id: Option<u32>,
    /// What only static embeddings read of tokenizer.json.
    static_settings: static_embedding::Settings,
    /// Id that is removed from texts, after truncation (model2vec).
    removed_id: Option<u32>,
    /// Number of characters that are read of a text (model2vec).
    max_characters: Option<usize>,
    /// Number of tokens of the frame that its maximum length does not count; `None`: no frame.
    frame_outside: Option<usize>,
    /// See `Frame`.
    kept_end: Vec<i64>,
}

/// A text or a text pair (premise and hypothesis).
#[derive(Clone, Copy, Debug, Default)]
pub struct Input<'a> {
    pub text: &'a str,
    /// Second text. An empty one is ignored, as in transformers, unless `is_pair` is set.
    pub pair: Option<&'a str>,
    pub truncation: Truncation,
    /// End of a truncated text that is kept; `None`: the tokenizer's default.
    pub kept_side: Option<Side>,
    /// The input is a pair, even if `pair` is empty, as in transformers' lists of pairs.
    pub is_pair: bool,
    /// Maximum number of tokens, including special tokens. `None`: the configured limit.
    pub max_tokens: Option<usize>,
}

impl<'a> From<&'a str> for Input<'a> {
    fn from(text: &'a str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

impl Input<'_> {
    fn without_empty_pair(mut self) -> Self {
        self.pair = self.pair.filter(|pair| self.is_pair || !pair.is_empty());
        self
    }
}

impl Tokenizer {
    /// Opens the tokenizer of a folder. `position_limit`: size of the model's position table in tokens, including
    /// special tokens; `usize::MAX` if unknown, see `limit_positions`.
    pub fn open(directory: &Path, family: Family, position_limit: usize) -> Result<Self> {
        ensure!(directory.is_dir(), "tokenizer directory: not found");
        let bytes = files::read(directory, TOKENIZER)?;
        let mut json = bytes.iter().map(|bytes| files::object(TOKENIZER, bytes));
        let json = json.next().transpose()?;
        let settings = TokenizerConfig::read(directory, json.as_ref())?;
        let class = tokenizer_class::choose(directory, &settings, family)?;
        let limit = settings.model_max_length()?.unwrap_or(usize::MAX);
        let kept_side = settings.truncation_side(json.as_ref())?;
        let static_settings = static_embedding::Settings::read(json.as_ref());
        let source = Source {
            directory,
            class,
            file: bytes.as_deref().zip(json.as_ref()),
            settings,
        };
        let built = backend::build(source)?;
        let max_length = with_room(position_limit.min(limit), &built.templates)?;
        Ok(Self {
            truncates_early: early_truncation::can_truncate_early(&built.tokenizer),
            ascii_wordpiece: AsciiWordPiece::of(&built.tokenizer),
            highest: vocabulary::highest_id(&built.tokenizer),
            inner: built.tokenizer,
            templates: built.templates,
            max_length,
            position_limit,
            pad_token_id: built.pad_token_id,
            unk_token_id: built.unk_token_id,
            expansion_token_id: built.expansion_token_id,
            file: vocabulary::file_name(directory),
            kept_side,
            static_settings,
            removed_id: None,
            max_characters: None,
            frame_outside: None,
            kept_end: Vec::new(),
        })
    }

    /// Replaces the limit of tokenizer_config.json by a smaller or larger one. Counts special tokens.
    pub fn set_max_length(&mut self, max_length: usize) -> Result<()> {
        self.max_length = with_room(max_length.min(self.position_limit), &self.templates)?;
        Ok(())
    }

    /// Converts texts to lower case before all other normalization. Added tokens that are not normalized are found
    /// before that. Source: sentence-transformers, base/modules/transformer.py (`Transformer.__init__`).
    pub fn lowercase(&mut self) -> Result<()> {
        let steps = match self.inner.get_normalizer().cloned() {
            Some(NormalizerWrapper::Sequence(all)) => all.as_ref().to_vec(),
            single => single.into_iter().collect(),
        };
        let is_lowercase =
            |step: &NormalizerWrapper| matches!(step, NormalizerWrapper::Lowercase(_));
        if steps.iter().any(is_lowercase) {
            return Ok(());
        }
        let all = std::iter::once(Lowercase.into()).chain(steps).collect();
        let set = self.inner.with_normalizer(Some(Sequence::new(all)));
        set.map_err(|error| anyhow!("do_lower_case: {error}"))?;
        self.update();
        Ok(())
    }

    /// Lowers the position limit, if the new one is smaller.
    pub fn limit_positions(&mut self, position_limit: usize) -> Result<()> {
        self.max_length = with_room(position_limit.min(self.max_length), &self.templates)?;
        self.position_limit = self.position_limit.min(position_limit);
        Ok(())
    }

    pub fn max_length(&self) -> usize {
        self.max_length
    }

    /// Keeps `prefix`, or its first word, as one token if the vocabulary contains it, although texts are normalized.
    /// Source: sentence-transformers, multi_vector_encoder/model.py (`_register_prefix_tokens`).
    pub fn register_prefix_token(&mut self, prefix: &str) -> Result<()> {
        let words = [Some(prefix), prefix.split_whitespace().next()];
        let known = |token: &&str| self.inner.token_to_id(token).is_some();
        let Some(token) = words.into_iter().flatten().find(known) else {
            return Ok(());
        };
        let token = AddedToken::from(token, true).normalized(false);
        let problem = |error| anyhow!("prefix: {error}");
        self.inner.add_special_tokens([token]).map_err(problem)?;
        self.update();
        Ok(())
    }

    /// Updates what depends on normalizer and added tokens.
    fn update(&mut self) {
        self.truncates_early = early_truncation::can_truncate_early(&self.inner);
        self.ascii_wordpiece = AsciiWordPiece::of(&self.inner);
    }

    /// Encodes the input, adds special tokens and truncates to `max_length`. Fails with `TooLong` if the strategy does
    /// not permit the necessary truncation.
    pub fn encode<'a>(&self, input: impl Into<Input<'a>>) -> Result<Encoding> {
        let mut input = input.into().without_empty_pair();
        let is_cut = self.cut_characters(&mut input);
        let (template, room) = self.template(&input)?;
        let side = input.kept_side.unwrap_or(self.kept_side);
        let options = EncodeOptions {
            room,
            side,
            with_offsets: false,
        };
        let contents = self.encode_ids(&input, options)?;
        let counts = contents.each_ref().map(Vec::len);
        let kept = self.kept_counts(&input, counts, room)?;
        let ids = [0, 1].map(|i| kept_ids(&contents[i], kept[i], side));
        let mut encoding = with_special_tokens(template, ids);
        if kept != counts && input.pair.is_none() {
            self.restore_end(&mut encoding.input_ids);
        }
        self.remove_tokens(&mut encoding);
        Ok(Encoding {
            truncated: is_cut || kept != counts,
            ..encoding
        })
    }

    /// Number of tokens of each text after truncation.
    fn kept_counts(&self, input: &Input, counts: [usize; 2], room: usize) -> Result<[usize; 2]> {
        let kept = match self.frame_outside.filter(|_| input.pair.is_some()) {
            Some(outside) => self.kept_in_frame(input, outside, counts, room),
            None => input.truncation.kept_counts(counts, room),
        };
        kept.map_err(|reason| {
            reason
                .error(input.pair.is_some(), self.max_tokens(input))
                .into()
        })
    }

    /// Maximum number of tokens of the input, including special tokens.
    fn max_tokens(&self, input: &Input) -> usize {
        let max = input.max_tokens.map(|max| max.min(self.position_limit));
        max.unwrap_or(self.max_length)
    }

    /// Template for one or two texts, and the number of tokens that it leaves for them.
    fn template(&self, input: &Input) -> Result<(&Template, usize)> {
        let problem = "the tokenizer has no template for text pairs";
        let template = match (input.pair, &self.templates.pair) {
            (None, _) => &self.templates.single,
            (Some(_), Some(pair)) => pair,
            (Some(_), None) => return Err(anyhow!("post_processor: {problem}")),
        };
        let max = self.max_tokens(input);
        let Some(room) = max.checked_sub(special_token_count(template)) else {
            return Err(TooLong(format!(
                "The limit of {max} tokens is less than the number of special tokens of a text pair."
            ))
            .into());
        };
        Ok((template, room))
    }
}

fn kept_ids(ids: &[u32], count: usize, side: Side) -> &[u32] {
    match side {
        Side::Start => &ids[..count],
        Side::End => &ids[ids.len() - count..],
    }
}

fn with_special_tokens(template: &Template, contents: [&[u32]; 2]) -> Encoding {
    let length = special_token_count(template) + contents[0].len() + contents[1].len();
    let mut input_ids = Vec::with_capacity(length);
    let mut token_type_ids = Vec::with_capacity(length);
    for part in template {
        match *part {
            Part::Id(id, kind) => {
                input_ids.push(id);
                token_type_ids.push(kind);
            }
            Part::Text(text, kind) => {
                input_ids.extend(contents[text].iter().map(|id| i64::from(*id)));
                token_type_ids.resize(input_ids.len(), kind);
            }
        }
    }
    Encoding {
        input_ids,
        token_type_ids,
        ..Encoding::default()
    }
}

/// Returns `max_length` if it leaves room for text.
fn with_room(max_length: usize, templates: &Templates) -> Result<usize> {
    let count = special_token_count(&templates.single);
    ensure!(
        max_length > count,
        "maximum length: {max_length} tokens leave no room for text in addition to {count} special tokens"
    );
    Ok(max_length)
}
