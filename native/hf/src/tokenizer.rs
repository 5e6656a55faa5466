//! From a text to its ids, cut to the model's limit.

use std::path::Path;

use serde_json::{Map, Value};

use crate::backend::{self, Frame, Source};
use crate::class::{self};
use crate::error::{Error, Result};
use crate::files;
use crate::settings::Settings;

pub use crate::class::Family;

const TOKENIZER: &str = "tokenizer.json";

/// Any number of threads may encode with one tokenizer.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    frame: Frame,
    max_length: usize,
    truncates_left: bool,
    /// The start of a long text, up to white space, can be encoded alone.
    reads_prefixes: bool,
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
        let added = built.tokenizer.get_added_tokens_decoder();
        let holds_space = |content: &str| content.contains(char::is_whitespace);
        let spaced_token = added.values().any(|token| holds_space(&token.content));
        Ok(Self {
            inner: built.tokenizer,
            frame: built.frame,
            max_length,
            truncates_left,
            reads_prefixes: built.splits_at_spaces && !truncates_left && !spaced_token,
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
        let encoding = self.content(text, room)?;
        let all = encoding.get_ids();
        let truncated = all.len() > room;
        let kept = match (truncated, self.truncates_left) {
            (false, _) => all,
            (true, false) => &all[..room],
            (true, true) => &all[all.len() - room..],
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

    /// The text's tokens without special ones: all of them or, of a long text, at least `room` + 1.
    ///
    /// Encoding a whole megabyte to keep 510 tokens of it would cost a worker a second.
    fn content(&self, text: &str, room: usize) -> Result<tokenizers::Encoding> {
        let mut wanted = room.saturating_add(1).saturating_mul(8).max(4096);
        while self.reads_prefixes && wanted < text.len() {
            let Some(end) = word_end(text, wanted) else {
                break;
            };
            let encoding = self.encode_plain(&text[..end])?;
            if encoding.len() > room {
                return Ok(encoding);
            }
            wanted = end.saturating_mul(4);
        }
        self.encode_plain(text)
    }

    fn encode_plain(&self, text: &str) -> Result<tokenizers::Encoding> {
        // "fast": without the offsets into the text, which nothing needs.
        self.inner
            .encode_fast(text, false)
            .map_err(|error| Error::new(format!("tokenizer: {error}")))
    }
}

/// The first place from `start` on where a visible ASCII character stands before a space or a line
/// end. Nothing that a normalizer, a pre-tokenizer or an added token does reaches across it.
fn word_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let pairs = bytes.windows(2).skip(start.saturating_sub(1));
    let mut ends = pairs
        .enumerate()
        .filter(|(_, pair)| pair[0].is_ascii_graphic());
    let (offset, _) = ends.find(|(_, pair)| matches!(pair[1], b' ' | b'\n'))?;
    Some(start.saturating_sub(1) + offset + 1)
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
