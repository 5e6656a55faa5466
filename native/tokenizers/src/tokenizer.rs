//! From a text, or two, to ids, cut to the model's limit.

use std::path::Path;

use tokenizers::normalizers::{Lowercase, Sequence};
use tokenizers::{AddedToken, Model, ModelWrapper, NormalizerWrapper};

use crate::backend::{self, Part, Source, Template, Templates, specials};
use crate::class;
use crate::cut;
use crate::error::{Result, TooLong, anyhow, ensure};
use crate::files::{self, TOKENIZER};
use crate::settings::Settings;

mod ascii_words;
pub(crate) mod contents;
mod places;
mod truncation;

pub use crate::bridge::{Encoding, Family};
pub use crate::cut::Side;
pub use places::Windows;
pub use truncation::Truncation;

use ascii_words::AsciiWords;
use contents::ContentOptions;

#[cfg(test)]
#[path = "../tests/unit/tokenizer.rs"]
mod tests;

/// Each class reads one of them: the first of these that is there.
const VOCABULARIES: [&str; 7] = [
    TOKENIZER,
    "tokenizer.model",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
];

/// Any number of threads may encode with one tokenizer.
pub struct Tokenizer {
    pub(crate) inner: tokenizers::Tokenizer,
    templates: Templates,
    max_length: usize,
    position_limit: usize,
    padding_id: Option<u32>,
    kept: Side,
    /// Whether no more of a long text need be read than its limit needs.
    pub(crate) is_cut: bool,
    /// Where it is one of BERT.
    ascii_words: Option<AsciiWords>,
    /// Of all ids, and its token.
    highest: Option<(u32, String)>,
    /// Where the vocabulary is from.
    file: &'static str,
    /// Of the token for what the vocabulary does not have.
    unknown_id: Option<u32>,
    /// Of the token that queries are filled up with.
    filling_id: Option<u32>,
}

/// What is encoded: a text, or two (premise and hypothesis).
#[derive(Clone, Copy, Debug, Default)]
pub struct Input<'a> {
    pub text: &'a str,
    /// An empty one is none, as to transformers, where `is_pair` does not say otherwise.
    pub pair: Option<&'a str>,
    pub truncation: Truncation,
    /// Which end of a text that is cut is kept; `None`: the tokenizer's own.
    pub kept: Option<Side>,
    /// As transformers reads a list of pairs.
    pub is_pair: bool,
    /// Tokens, special ones included, whatever tokenizer_config.json says. `None`: as that says.
    pub most: Option<usize>,
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
    /// `position_limit`: tokens that the model's position table holds, special tokens included;
    /// `usize::MAX` where it is known only later, see `limit`.
    pub fn open(directory: &Path, family: Family, position_limit: usize) -> Result<Self> {
        ensure!(directory.is_dir(), "tokenizer directory: not found");
        let bytes = files::read(directory, TOKENIZER)?;
        let mut json = bytes.iter().map(|bytes| files::object(TOKENIZER, bytes));
        let json = json.next().transpose()?;
        let settings = Settings::read(directory, json.as_ref())?;
        let class = class::choose(directory, &settings, family)?;
        let limit = settings.model_max_length()?.unwrap_or(usize::MAX);
        let kept = settings.kept_side(json.as_ref())?;
        let source = Source {
            directory,
            class,
            file: bytes.as_deref().zip(json.as_ref()),
            settings,
        };
        let built = backend::build(source)?;
        let max_length = with_room(position_limit.min(limit), &built.templates)?;
        Ok(Self {
            is_cut: cut::is_exact(&built.tokenizer),
            ascii_words: AsciiWords::of(&built.tokenizer),
            highest: highest_id(&built.tokenizer),
            inner: built.tokenizer,
            templates: built.templates,
            max_length,
            position_limit,
            padding_id: built.padding_id,
            unknown_id: built.unknown_id,
            filling_id: built.filling_id,
            file: vocabulary_file(directory),
            kept,
        })
    }

    /// Tokens, special ones included, in place of what tokenizer_config.json says: fewer or more.
    pub fn set_max_length(&mut self, max_length: usize) -> Result<()> {
        self.max_length = with_room(max_length.min(self.position_limit), &self.templates)?;
        Ok(())
    }

    /// Puts texts into lower case before all that the normalizer does. Added tokens that are not normalized are found
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

    /// As if opened with `position_limit`, where that is less.
    pub fn limit(&mut self, position_limit: usize) -> Result<()> {
        self.max_length = with_room(position_limit.min(self.max_length), &self.templates)?;
        self.position_limit = self.position_limit.min(position_limit);
        Ok(())
    }

    /// `rows`: of the model's table of words.
    pub fn require_ids_below(&self, rows: usize) -> Result<()> {
        if let Some((id, token)) = &self.highest {
            ensure!(
                (*id as usize) < rows,
                "{}: `{token}` has the id {id}, but the model's table of words has {rows} rows: \
                 tokenizer and weights belong to different models",
                self.file
            );
        }
        Ok(())
    }

    pub fn max_length(&self) -> usize {
        self.max_length
    }

    /// `None`: no file names a token for padding, or it has no id.
    pub fn padding_id(&self) -> Option<u32> {
        self.padding_id
    }

    /// Of the token for what is masked, else of the one that ends a text: what sentence-transformers fills queries up
    /// with (`_validate_query_expansion_token`).
    pub fn filling_id(&self) -> Option<u32> {
        self.filling_id
    }

    /// Of a token of the vocabulary, by what it is called there.
    pub fn id_of(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// With what texts may begin: where it, or its first word, is a token of the vocabulary, it stays
    /// one, whatever the normalizer makes of text. Source: sentence-transformers,
    /// multi_vector_encoder/model.py (`_register_prefix_tokens`).
    pub fn keep_whole(&mut self, prefix: &str) -> Result<()> {
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

    /// What is known of the steps and added tokens, once they have changed.
    fn update(&mut self) {
        self.is_cut = cut::is_exact(&self.inner);
        self.ascii_words = AsciiWords::of(&self.inner);
    }

    /// Special tokens added, the texts cut so that all of it fits into `max_length`. An error that
    /// is `TooLong` where the input does not allow that.
    pub fn encode<'a>(&self, input: impl Into<Input<'a>>) -> Result<Encoding> {
        let input = input.into().without_empty_pair();
        let (template, room) = self.template(&input)?;
        let side = input.kept.unwrap_or(self.kept);
        let options = ContentOptions {
            room,
            side,
            places: false,
        };
        let contents = self.contents(&input, options)?;
        let counts = contents.each_ref().map(tokenizers::Encoding::len);
        let kept = self.kept(&input, counts, room)?;
        let ids = [0, 1].map(|i| edge(contents[i].get_ids(), kept[i], side));
        Ok(Encoding {
            truncated: kept != counts,
            ..with_specials(template, ids)
        })
    }

    /// How many tokens of each text stay.
    fn kept(&self, input: &Input, counts: [usize; 2], room: usize) -> Result<[usize; 2]> {
        let kept = input.truncation.kept(counts, room);
        kept.map_err(|reason| reason.error(input.pair.is_some(), self.most(input)).into())
    }

    /// Tokens, special ones included.
    fn most(&self, input: &Input) -> usize {
        let most = input.most.map(|most| most.min(self.position_limit));
        most.unwrap_or(self.max_length)
    }

    /// For one text or two, and the room that it leaves.
    fn template(&self, input: &Input) -> Result<(&Template, usize)> {
        let problem = "the tokenizer has no template that keeps each of two texts once";
        let template = match (input.pair, &self.templates.pair) {
            (None, _) => &self.templates.single,
            (Some(_), Some(pair)) => pair,
            (Some(_), None) => return Err(anyhow!("post_processor: {problem}")),
        };
        let most = self.most(input);
        let Some(room) = most.checked_sub(specials(template)) else {
            return Err(TooLong(format!(
                "The model takes {most} tokens, which are fewer than the special ones of two texts."
            ))
            .into());
        };
        Ok((template, room))
    }
}

fn edge(ids: &[u32], count: usize, side: Side) -> &[u32] {
    match side {
        Side::Start => &ids[..count],
        Side::End => &ids[ids.len() - count..],
    }
}

fn with_specials(template: &Template, contents: [&[u32]; 2]) -> Encoding {
    let length = specials(template) + contents[0].len() + contents[1].len();
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

/// `max_length`, when it leaves room for text.
fn with_room(max_length: usize, templates: &Templates) -> Result<usize> {
    let count = specials(&templates.single);
    ensure!(
        max_length > count,
        "maximum length: {max_length} tokens leave no room for text beside {count} special tokens"
    );
    Ok(max_length)
}

fn highest_id(tokenizer: &tokenizers::Tokenizer) -> Option<(u32, String)> {
    let added = tokenizer.get_added_tokens_decoder().into_iter();
    let added = added.map(|(id, token)| (id, token.content)).max();
    let own = match tokenizer.get_model() {
        // In the order of their ids.
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

/// The one that is read first.
fn vocabulary_file(directory: &Path) -> &'static str {
    let mut others = VOCABULARIES.into_iter();
    let found = others.find(|name| directory.join(name).exists());
    found.unwrap_or(TOKENIZER)
}
