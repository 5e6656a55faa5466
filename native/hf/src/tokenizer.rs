//! From a text to its ids, cut to the model's limit.

use std::path::Path;

use serde_json::{Map, Value};
use tokenizers::{Model, ModelWrapper};

use crate::backend::{self, Frame, Source};
use crate::class;
use crate::cut::{self, Cutting, Side};
use crate::error::{Error, Result};
use crate::files;
use crate::settings::Settings;

pub use crate::class::Family;

#[cfg(test)]
mod tests;

const TOKENIZER: &str = "tokenizer.json";

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
    frame: Frame,
    max_length: usize,
    kept: Side,
    pub(crate) cutting: Option<Cutting>,
    /// Of all ids, and its token.
    highest: Option<(u32, String)>,
    /// Where the vocabulary is from.
    file: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Encoding {
    pub input_ids: Vec<i64>,
    pub token_type_ids: Vec<i64>,
    pub truncated: bool,
}

impl Tokenizer {
    /// `position_limit`: tokens that the model's position table holds, special tokens included;
    /// `usize::MAX` where it is known only later, see `limit`.
    pub fn open(directory: &Path, family: Family, position_limit: usize) -> Result<Self> {
        if !directory.is_dir() {
            return Err(Error::new("tokenizer directory: not found"));
        }
        let bytes = files::read(directory, TOKENIZER)?;
        let json = match &bytes {
            Some(bytes) => Some(files::object(TOKENIZER, bytes)?),
            None => None,
        };
        let settings = Settings::read(directory, json.as_ref())?;
        let class = class::choose(directory, &settings, family)?;
        let limit = settings.model_max_length()?.unwrap_or(usize::MAX);
        let truncates_left = settings.truncates_left(file_truncates_left(json.as_ref()))?;
        let source = Source {
            directory,
            file: bytes.as_deref().zip(json.as_ref()),
            settings,
        };
        let built = backend::build(source, &class)?;
        let highest = highest_id(&built.tokenizer);
        let max_length = with_room(position_limit.min(limit), &built.frame)?;
        Ok(Self {
            cutting: Cutting::of(&built.tokenizer),
            inner: built.tokenizer,
            frame: built.frame,
            max_length,
            highest,
            file: vocabulary_file(directory),
            kept: if truncates_left {
                Side::End
            } else {
                Side::Start
            },
        })
    }

    /// As if opened with `position_limit`, where that is less.
    pub fn limit(&mut self, position_limit: usize) -> Result<()> {
        self.max_length = with_room(position_limit.min(self.max_length), &self.frame)?;
        Ok(())
    }

    /// `rows`: of the model's table of words.
    pub fn require_ids_below(&self, rows: usize) -> Result<()> {
        match &self.highest {
            Some((id, token)) if *id as usize >= rows => Err(Error::in_file(
                self.file,
                format!(
                    "`{token}` has the id {id}, but the model's table of words has {rows} rows: \
                     tokenizer and weights belong to different models"
                ),
            )),
            _ => Ok(()),
        }
    }

    pub fn max_length(&self) -> usize {
        self.max_length
    }

    /// Special tokens added, the content cut so that all of it fits into `max_length`.
    pub fn encode(&self, text: &str) -> Result<Encoding> {
        let Frame { prefix, suffix, .. } = &self.frame;
        let room = self.max_length - prefix.len() - suffix.len();
        let all = self.content(text, room)?;
        let truncated = all.len() > room;
        let kept = match (truncated, self.kept) {
            (false, _) => &all[..],
            (true, Side::Start) => &all[..room],
            (true, Side::End) => &all[all.len() - room..],
        };
        let content = kept
            .iter()
            .map(|id| (i64::from(*id), self.frame.content_type));
        let framed = prefix
            .iter()
            .copied()
            .chain(content)
            .chain(suffix.iter().copied());
        let (input_ids, token_type_ids) = framed.unzip();
        Ok(Encoding {
            input_ids,
            token_type_ids,
            truncated,
        })
    }

    /// The text's tokens without special ones: all of them or, of a long text, at least `room` + 1
    /// from the kept side.
    ///
    /// Encoding a whole megabyte to keep 510 tokens of it would cost a second.
    fn content(&self, text: &str, room: usize) -> Result<Vec<u32>> {
        let cut = match &self.cutting {
            Some(cutting) => cutting.ids(&self.inner, text, room, self.kept)?,
            None => None,
        };
        match cut {
            Some(ids) => Ok(ids),
            None => cut::encode(&self.inner, text),
        }
    }
}

/// `max_length`, when it leaves room for text.
fn with_room(max_length: usize, frame: &Frame) -> Result<usize> {
    let specials = frame.prefix.len() + frame.suffix.len();
    if max_length > specials {
        return Ok(max_length);
    }
    Err(Error::new(format!(
        "maximum length: {max_length} tokens leave no room for text beside {specials} special tokens"
    )))
}

fn highest_id(tokenizer: &tokenizers::Tokenizer) -> Option<(u32, String)> {
    let added = tokenizer.get_added_tokens_decoder().into_iter();
    let added = added.map(|(id, token)| (id, token.content)).max();
    let own = match tokenizer.get_model() {
        // In the order of their ids.
        ModelWrapper::Unigram(model) => {
            let last = u32::try_from(model.get_vocab_size())
                .ok()
                .and_then(|size| size.checked_sub(1));
            last.and_then(|id| Some((id, model.id_to_token(id)?)))
        }
        model => model
            .get_vocab()
            .into_iter()
            .map(|(token, id)| (id, token))
            .max(),
    };
    added.max(own)
}

/// The one that is read first.
fn vocabulary_file(directory: &Path) -> &'static str {
    let mut others = VOCABULARIES.into_iter();
    let found = others.find(|name| directory.join(name).exists());
    found.unwrap_or(TOKENIZER)
}

/// tokenizer.json's own truncation is not used but for its side, where tokenizer_config.json names
/// none.
fn file_truncates_left(file: Option<&Map<String, Value>>) -> bool {
    let truncation = file.and_then(|file| file.get("truncation"));
    truncation.is_some_and(|truncation| truncation["direction"] == "Left")
}
