//! What C++ sees of tokenizers and safetensors. Errors become exceptions (`rust::Error`), and panics errors: one that
//! left Rust would end the process.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::cut::Side;
use crate::error::{At, Result, TooLong, catch_panic};
use crate::tensors;
use crate::tokenizer;

#[cxx::bridge(namespace = "tokenizers")]
mod ffi {
    /// The kind of model, where the directory does not name its tokenizer class.
    #[derive(Debug)]
    pub enum Family {
        Bert,
        Roberta,
        Mpnet,
        Albert,
        XlmRoberta,
        Camembert,
        DebertaV2,
        /// tokenizer.json as it is, whatever class is named.
        TokenizerJson,
        /// The same where no class is named.
        Unknown,
    }

    /// As in transformers. Of one text the strategies that cut the first one are the same.
    #[derive(Debug, Default)]
    pub enum Truncation {
        /// From the longer of two texts, until both are equally long; then from both.
        #[default]
        LongestFirst,
        OnlyFirst,
        OnlySecond,
        /// What is too long is an error.
        DoNotTruncate,
    }

    /// From which end tokens are taken away.
    #[derive(Debug)]
    pub enum TruncationSide {
        OfTokenizer,
        Right,
        Left,
    }

    /// A text, or two: UTF-8, of which what is invalid is read as U+FFFD; NUL is a character.
    pub struct Input<'a> {
        text: &'a [u8],
        /// Empty: there is one text, as an empty second one is none to transformers.
        pair: &'a [u8],
        truncation: Truncation,
        side: TruncationSide,
        /// There are two, though the second is empty.
        is_pair: bool,
        /// Tokens, special ones included, up to `position_limit`; 0: `max_length`.
        most: usize,
    }

    #[derive(Debug, Default, PartialEq, Eq)]
    pub struct Encoding {
        /// Special tokens included, at most `max_length`.
        input_ids: Vec<i64>,
        /// As many.
        token_type_ids: Vec<i64>,
        /// The texts had more tokens than fit.
        truncated: bool,
        /// Why the texts do not fit, and may not be cut as they would have to be: for whoever sent
        /// them. Empty: they are encoded.
        too_long: String,
    }

    /// Windows of texts, one behind the other, of tokens and their places.
    #[derive(Debug, Default, PartialEq, Eq)]
    pub struct Located {
        /// Special tokens included.
        ids: Vec<i64>,
        /// As many.
        types: Vec<i64>,
        /// Begin and end of each in its text, in UTF-16 units; of special tokens 0.
        offsets: Vec<u32>,
        /// Of each: 0: a special token, 1: of the text, 2: of the second one.
        texts: Vec<u8>,
        /// Tokens of each window; one, unless a stride is given.
        lengths: Vec<usize>,
        truncated: bool,
        /// As of `Encoding`.
        too_long: String,
    }

    #[derive(Debug, PartialEq, Eq)]
    pub struct Tensor {
        name: String,
        /// As the header has it: "F32", "F16", "BF16", …
        dtype: String,
        shape: Vec<i64>,
        /// Bytes from the start of the file.
        begin: usize,
        end: usize,
    }

    extern "Rust" {
        /// "tokenizers 0.23.2"
        fn tokenizers_version() -> String;

        /// Const members may be called from any number of threads.
        type Tokenizer;
        /// `position_limit`: tokens that the model's position table holds, special tokens included;
        /// SIZE_MAX where it is known only later, see `limit`.
        fn open_tokenizer(
            directory: &[u8],
            family: Family,
            position_limit: usize,
        ) -> Result<Box<Tokenizer>>;
        /// Tokens, special ones included, in place of tokenizer_config.json's model_max_length.
        fn set_max_length(self: &mut Tokenizer, max_length: usize) -> Result<()>;
        /// Texts are put into lower case before all else, special tokens in them are not.
        fn lowercase(self: &mut Tokenizer) -> Result<()>;
        /// As if opened with `position_limit`, where that is less.
        fn limit(self: &mut Tokenizer, position_limit: usize) -> Result<()>;
        /// With what texts may begin: a token of the vocabulary stays one, though text is normalized.
        fn keep_whole(self: &mut Tokenizer, prefix: &str) -> Result<()>;
        /// Fails, naming the token, where a token has an id of `rows` or more.
        fn require_ids_below(self: &Tokenizer, rows: usize) -> Result<()>;
        /// The smallest of the limits: `position_limit`, and tokenizer_config.json's model_max_length or what was set.
        fn max_length(self: &Tokenizer) -> usize;
        /// Of the token that its settings name for padding; -1: they name none.
        fn padding_id(self: &Tokenizer) -> i64;
        /// Special tokens added, cut to `max_length` keeping them.
        fn encode(self: &Tokenizer, input: &Input) -> Result<Encoding>;
        /// As `encode`, with the places of the tokens. `stride`: of one text all of it, in windows
        /// that share so many tokens; below 0: what fits. `most_windows`: further ones are left out; 0:
        /// all are read, and too many of them are an error (`too_long`).
        fn locate(
            self: &Tokenizer,
            input: &Input,
            stride: i64,
            most_windows: usize,
        ) -> Result<Located>;
        /// What an id stands for; empty: for nothing.
        fn token(self: &Tokenizer, id: u32) -> String;
        /// The text that tokens stand for together.
        fn join(self: &Tokenizer, tokens: Vec<String>) -> Result<String>;
        /// Whether tokens that go on with a word are marked as such.
        fn marks_continued_words(self: &Tokenizer) -> bool;
        /// Of the token for what the vocabulary does not have; -1: the settings name none.
        fn unknown_id(self: &Tokenizer) -> i64;
        /// Of the token that queries are filled up with; -1: the settings name none.
        fn filling_id(self: &Tokenizer) -> i64;
        /// Of a token of the vocabulary; -1: it has none such.
        fn id_of(self: &Tokenizer, token: &str) -> i64;

        /// Validates the header of a whole safetensors file; the tensors in the order of their
        /// offsets.
        fn parse_safetensors(file: &[u8]) -> Result<Vec<Tensor>>;
    }
}

pub use ffi::*;

/// A tokenizer whose panics are errors.
pub struct Tokenizer(tokenizer::Tokenizer);

pub fn open_tokenizer(
    directory: &[u8],
    family: Family,
    position_limit: usize,
) -> Guarded<Box<Tokenizer>> {
    let directory = Path::new(OsStr::from_bytes(directory));
    guard(|| {
        let opened = tokenizer::Tokenizer::open(directory, family, position_limit)?;
        Ok(Box::new(Tokenizer(opened)))
    })
}

impl Tokenizer {
    pub fn set_max_length(&mut self, max_length: usize) -> Guarded<()> {
        guard(|| self.0.set_max_length(max_length))
    }

    pub fn lowercase(&mut self) -> Guarded<()> {
        guard(|| self.0.lowercase())
    }

    pub fn limit(&mut self, position_limit: usize) -> Guarded<()> {
        guard(|| self.0.limit(position_limit))
    }

    pub fn keep_whole(&mut self, prefix: &str) -> Guarded<()> {
        guard(|| self.0.keep_whole(prefix))
    }

    pub fn require_ids_below(&self, rows: usize) -> Guarded<()> {
        guard(|| self.0.require_ids_below(rows))
    }

    pub fn max_length(&self) -> usize {
        self.0.max_length()
    }

    pub fn padding_id(&self) -> i64 {
        self.0.padding_id().map_or(-1, i64::from)
    }

    pub fn encode(&self, input: &Input) -> Guarded<Encoding> {
        let too_long = |too_long| Encoding {
            too_long,
            ..Encoding::default()
        };
        answer(input, |input| self.0.encode(input), too_long)
    }

    pub fn locate(&self, input: &Input, stride: i64, most_windows: usize) -> Guarded<Located> {
        let too_long = |too_long| Located {
            too_long,
            ..Located::default()
        };
        let stride = usize::try_from(stride).ok();
        let windows = stride.map(|stride| tokenizer::Windows {
            stride,
            most: (most_windows > 0).then_some(most_windows),
        });
        answer(input, |input| self.0.locate(input, windows), too_long)
    }

    pub fn token(&self, id: u32) -> String {
        self.0.token(id)
    }

    pub fn join(&self, tokens: Vec<String>) -> Guarded<String> {
        guard(|| self.0.join(tokens))
    }

    pub fn marks_continued_words(&self) -> bool {
        self.0.marks_continued_words()
    }

    pub fn unknown_id(&self) -> i64 {
        self.0.unknown_id().map_or(-1, i64::from)
    }

    pub fn filling_id(&self) -> i64 {
        self.0.filling_id().map_or(-1, i64::from)
    }

    pub fn id_of(&self, token: &str) -> i64 {
        self.0.id_of(token).map_or(-1, i64::from)
    }
}

/// What `tokenize` makes of the input, or `too_long` of why it does not fit.
fn answer<T>(
    input: &Input,
    tokenize: impl FnOnce(tokenizer::Input) -> Result<T>,
    too_long: impl FnOnce(String) -> T,
) -> Guarded<T> {
    let [text, pair] = [input.text, input.pair].map(String::from_utf8_lossy);
    let input = tokenizer::Input {
        text: &text,
        pair: Some(&pair),
        truncation: input.truncation,
        kept: match input.side {
            TruncationSide::Right => Some(Side::Start),
            TruncationSide::Left => Some(Side::End),
            _ => None,
        },
        is_pair: input.is_pair,
        most: (input.most > 0).then_some(input.most),
    };
    guard(|| match tokenize(input) {
        Err(error) if error.is::<TooLong>() => Ok(too_long(error.to_string())),
        answered => answered,
    })
}

pub fn parse_safetensors(file: &[u8]) -> Guarded<Vec<Tensor>> {
    guard(|| tensors::parse(file))
}

pub fn tokenizers_version() -> String {
    // The crate states its version nowhere but in the lock file that it was built from.
    let lock = include_str!("../Cargo.lock");
    let entry = lock.split("name = \"tokenizers\"\nversion = \"").nth(1);
    let version = entry.and_then(|rest| rest.split('"').next());
    format!("tokenizers {}", version.unwrap_or("?"))
}

/// Or the message of an exception, which C++ reads up to the first NUL.
pub type Guarded<T> = std::result::Result<T, String>;

pub fn guard<T>(body: impl FnOnce() -> Result<T>) -> Guarded<T> {
    let done = catch_panic(body).at("internal error").and_then(|done| done);
    done.map_err(|error| error.to_string().replace('\0', "\u{fffd}"))
}

#[cfg(test)]
#[path = "../tests/unit/bridge.rs"]
mod tests;
