//! From a text to its ids, cut to the model's limit.

use std::path::Path;

use serde_json::{Map, Value};

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

/// Any number of threads may encode with one tokenizer.
pub struct Tokenizer {
    pub(crate) inner: tokenizers::Tokenizer,
    frame: Frame,
    max_length: usize,
    kept: Side,
    pub(crate) cutting: Option<Cutting>,
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
            Some(_) => files::read_object(directory, TOKENIZER)?,
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
        let max_length = with_room(position_limit.min(limit), &built.frame)?;
        Ok(Self {
            cutting: Cutting::of(&built.tokenizer),
            inner: built.tokenizer,
            frame: built.frame,
            max_length,
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

/// tokenizer.json's own truncation is not used but for its side, where tokenizer_config.json names
/// none.
fn file_truncates_left(file: Option<&Map<String, Value>>) -> bool {
    let truncation = file.and_then(|file| file.get("truncation"));
    truncation.is_some_and(|truncation| truncation["direction"] == "Left")
}
