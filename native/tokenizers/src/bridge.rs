//! Interface of tokenizers and safetensors to C++. Errors and panics become exceptions (`rust::Error`).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::early_truncation::Side;
use crate::tensors;
use crate::tokenizer;
use errors::{FfiResult, Result, catch};

#[cxx::bridge(namespace = "tokenizers")]
mod ffi {
    /// Model architecture. Selects the tokenizer class if the folder does not name one.
    #[derive(Debug)]
    pub enum Family {
        Bert,
        Roberta,
        Mpnet,
        Albert,
        XlmRoberta,
        Camembert,
        DebertaV2,
        /// tokenizer.json without changes, whatever class the folder names.
        TokenizerJson,
        /// tokenizer.json without changes, unless the folder names a class.
        Unknown,
    }

    /// Truncation strategy of transformers. For one text, `LongestFirst` and `OnlyFirst` are equal.
    #[derive(Debug, Default)]
    pub enum Truncation {
        /// Truncates the longer text until both are equally long, then both.
        #[default]
        LongestFirst,
        OnlyFirst,
        OnlySecond,
        /// Input that is too long is an error.
        DoNotTruncate,
    }

    /// End of the text at which tokens are removed.
    #[derive(Debug)]
    pub enum TruncationSide {
        TokenizerDefault,
        Right,
        Left,
    }

    /// A text or a text pair in UTF-8. Invalid bytes are read as U+FFFD; NUL is a character.
    pub struct Input<'a> {
        text: &'a [u8],
        /// Empty: one text, as in transformers, unless `is_pair` is set.
        pair: &'a [u8],
        truncation: Truncation,
        side: TruncationSide,
        /// The input is a pair, even if `pair` is empty.
        is_pair: bool,
        /// Maximum number of tokens, including special tokens, at most `position_limit`; 0: `max_length`.
        max_tokens: usize,
    }

    /// Fixed texts around a text or a pair, instead of special tokens. Added tokens in them are found.
    #[derive(Debug, Default)]
    pub struct Frame {
        before: Vec<String>,
        /// Between the texts of a pair.
        between: Vec<String>,
        after: Vec<String>,
        /// Two texts: the end that their tokens share replaces the last tokens of each truncated single text. Empty:
        /// none.
        kept_end: Vec<String>,
        /// Maximum number of tokens, in addition to `times_before` and `times_after` times those of `before` and
        /// `after`; 0: the limit of tokenizer_config.json, which counts all tokens.
        max_length: usize,
        times_before: usize,
        times_after: usize,
    }

    #[derive(Debug, Default, PartialEq, Eq)]
    pub struct Encoding {
        /// Ids, including special tokens; at most `max_length`.
        input_ids: Vec<i64>,
        /// One value per id.
        token_type_ids: Vec<i64>,
        /// Tokens were removed.
        truncated: bool,
        /// Message for the client if the input is too long and must not be truncated; otherwise empty.
        too_long: String,
    }

    /// Tokens and offsets of one or more windows, concatenated.
    #[derive(Debug, Default, PartialEq, Eq)]
    pub struct EncodingWithOffsets {
        /// Ids, including special tokens.
        input_ids: Vec<i64>,
        /// One value per id.
        token_type_ids: Vec<i64>,
        /// Start and end of each token in its text, in UTF-16 units (`encode_whole_text`: bytes); 0 for special tokens.
        offsets: Vec<u32>,
        /// Per token: 0 for special tokens, 1 for the first text, 2 for the second text.
        sequence_ids: Vec<u8>,
        /// Number of tokens of each window; one window unless a stride is given.
        window_lengths: Vec<usize>,
        truncated: bool,
        /// See `Encoding`.
        too_long: String,
    }

    /// Division of a text into words.
    #[derive(Debug)]
    pub enum WordSplitter {
        /// Letters, digits and `_`, joined by hyphens; each other character except white space (gliner).
        Gliner,
        /// URLs, e-mail addresses, names after `@`, letters with their combining marks, in lower case. There are no
        /// special tokens, and a text without punctuation at its end gets a period (gliner2).
        Gliner2,
    }

    /// Tokens of a prompt and of the words of a text.
    #[derive(Debug, Default, PartialEq, Eq)]
    pub struct WordsEncoding {
        /// Ids, including special tokens; empty if the text has several windows.
        input_ids: Vec<i64>,
        /// One value per id.
        token_type_ids: Vec<i64>,
        /// Index of the first token of each word of the prompt, or of the next token if it has none.
        prompt_starts: Vec<u32>,
        /// Index of the first token of each word of the text, and of the period that `Gliner2` adds.
        word_starts: Vec<u32>,
        /// Start and end of each word in the text that has tokens, in UTF-16 units.
        offsets: Vec<u32>,
        /// First word and number of words of each window. A text that fits has one window, or none if it has no word.
        window_starts: Vec<u32>,
        window_lengths: Vec<u32>,
        /// Tokens of the only word were removed.
        truncated: bool,
        /// See `Encoding`.
        too_long: String,
    }

    #[derive(Debug, PartialEq, Eq)]
    pub struct Tensor {
        name: String,
        /// Name in the file's header: "F32", "F16", "BF16", …
        dtype: String,
        shape: Vec<i64>,
        /// Byte offsets from the start of the file.
        begin: usize,
        end: usize,
    }

    extern "Rust" {
        /// Returns for example "tokenizers 0.23.2".
        fn tokenizers_version() -> String;

        /// A tokenizer. Const members are thread-safe.
        type Tokenizer;
        /// Opens the tokenizer of a model folder. `position_limit`: size of the model's position table in tokens,
        /// including special tokens; SIZE_MAX if unknown, see `limit_positions`.
        fn open_tokenizer(
            directory: &[u8],
            family: Family,
            position_limit: usize,
        ) -> Result<Box<Tokenizer>>;
        /// Replaces `model_max_length` of tokenizer_config.json. Counts special tokens.
        fn set_max_length(self: &mut Tokenizer, max_length: usize) -> Result<()>;
        /// Converts texts to lower case before all other normalization. Special tokens in texts are not converted.
        fn lowercase(self: &mut Tokenizer) -> Result<()>;
        /// Lowers the position limit, if the new one is smaller.
        fn limit_positions(self: &mut Tokenizer, position_limit: usize) -> Result<()>;
        /// Keeps a prefix of texts as one token if the vocabulary contains it, although texts are normalized.
        fn register_prefix_token(self: &mut Tokenizer, prefix: &str) -> Result<()>;
        /// Replaces the special tokens by a frame.
        fn set_frame(self: &mut Tokenizer, frame: &Frame) -> Result<()>;
        /// First id of a text, without special tokens; -1 if it has none.
        fn first_id(self: &Tokenizer, text: &str) -> Result<i64>;
        /// Encodes single texts without special tokens, up to the truncation of tokenizer.json.
        fn omit_special_tokens(self: &mut Tokenizer);
        /// Cuts texts and removes unknown tokens like model2vec. `max_length`: in tokens; 0: unlimited.
        fn follow_model2vec(self: &mut Tokenizer, max_length: usize) -> Result<()>;
        /// Fails with the name of a token whose id is `rows` or more.
        fn require_ids_below(self: &Tokenizer, rows: usize) -> Result<()>;
        /// Maximum number of tokens, including special tokens: the minimum of `position_limit` and the configured
        /// limit.
        fn max_length(self: &Tokenizer) -> usize;
        /// Id of `pad_token`; -1 if the configuration names none.
        fn pad_token_id(self: &Tokenizer) -> i64;
        /// Encodes the input, adds special tokens and truncates to `max_length`. Special tokens are kept.
        fn encode(self: &Tokenizer, input: &Input) -> Result<Encoding>;
        /// Encodes the input and returns offsets. `stride`: number of tokens that consecutive windows of a long text
        /// share; below 0: one truncated window. `max_windows`: number of windows; 0: unlimited, and too many windows
        /// are an error (`too_long`).
        fn encode_with_offsets(
            self: &Tokenizer,
            input: &Input,
            stride: i64,
            max_windows: usize,
        ) -> Result<EncodingWithOffsets>;
        /// Encodes the whole text without a limit, for clients that inspect tokens. Offsets are in bytes of UTF-8, and
        /// may split a character.
        fn encode_whole_text(
            self: &Tokenizer,
            text: &[u8],
            add_special_tokens: bool,
        ) -> Result<EncodingWithOffsets>;
        /// Encodes the words of a prompt and of a text. Each is tokenized alone. `max_words`: of a window.
        /// `overlap`: number of words that consecutive windows share. `rows`: of the embedding table; words of the text
        /// lose tokens with other ids.
        fn encode_words(
            self: &Tokenizer,
            prompt: &Vec<String>,
            text: &[u8],
            splitter: WordSplitter,
            max_words: usize,
            overlap: usize,
            rows: usize,
        ) -> Result<WordsEncoding>;
        /// Encodes the words of a whole text as `WordSplitter::Gliner2`, without a limit. Offsets are those of the words,
        /// in bytes of UTF-8.
        fn encode_text_by_words(self: &Tokenizer, text: &[u8]) -> Result<EncodingWithOffsets>;
        /// Decodes ids to text. Unknown ids are ignored, see `find_unknown_id`.
        fn decode(self: &Tokenizer, ids: &[u32], skip_special_tokens: bool) -> Result<String>;
        /// Index of the first id without a token; -1 if all ids have a token.
        fn find_unknown_id(self: &Tokenizer, ids: &[u32]) -> i64;
        /// Token of an id; empty if the id is unknown.
        fn id_to_token(self: &Tokenizer, id: u32) -> String;
        /// Decodes a list of tokens to text.
        fn convert_tokens_to_string(self: &Tokenizer, tokens: Vec<String>) -> Result<String>;
        /// True if tokens that continue a word have a prefix, such as `##`.
        fn has_subword_prefix(self: &Tokenizer) -> bool;
        /// Id of `unk_token`; -1 if the configuration names none.
        fn unk_token_id(self: &Tokenizer) -> i64;
        /// Id of the token that fills ColBERT queries to their length; -1 if the configuration names none.
        fn expansion_token_id(self: &Tokenizer) -> i64;
        /// Id of a token; -1 if the vocabulary does not contain the token.
        fn token_to_id(self: &Tokenizer, token: &str) -> i64;

        /// Validates the header of a complete safetensors file. Returns the tensors in the order of their offsets.
        fn parse_safetensors(file: &[u8]) -> Result<Vec<Tensor>>;
    }
}

pub use ffi::*;

/// A tokenizer whose panics become errors.
pub struct Tokenizer(tokenizer::Tokenizer);

pub fn open_tokenizer(
    directory: &[u8],
    family: Family,
    position_limit: usize,
) -> FfiResult<Box<Tokenizer>> {
    let directory = Path::new(OsStr::from_bytes(directory));
    catch(|| {
        let opened = tokenizer::Tokenizer::open(directory, family, position_limit)?;
        Ok(Box::new(Tokenizer(opened)))
    })
}

impl Tokenizer {
    pub fn set_max_length(&mut self, max_length: usize) -> FfiResult<()> {
        catch(|| self.0.set_max_length(max_length))
    }

    pub fn lowercase(&mut self) -> FfiResult<()> {
        catch(|| self.0.lowercase())
    }

    pub fn limit_positions(&mut self, position_limit: usize) -> FfiResult<()> {
        catch(|| self.0.limit_positions(position_limit))
    }

    pub fn register_prefix_token(&mut self, prefix: &str) -> FfiResult<()> {
        catch(|| self.0.register_prefix_token(prefix))
    }

    pub fn set_frame(&mut self, frame: &Frame) -> FfiResult<()> {
        catch(|| self.0.set_frame(frame))
    }

    pub fn first_id(&self, text: &str) -> FfiResult<i64> {
        catch(|| Ok(self.0.first_id(text)?.map_or(-1, i64::from)))
    }

    pub fn omit_special_tokens(&mut self) {
        self.0.omit_special_tokens();
    }

    pub fn follow_model2vec(&mut self, max_length: usize) -> FfiResult<()> {
        catch(|| self.0.follow_model2vec(max_length))
    }

    pub fn require_ids_below(&self, rows: usize) -> FfiResult<()> {
        catch(|| self.0.require_ids_below(rows))
    }

    pub fn max_length(&self) -> usize {
        self.0.max_length()
    }

    pub fn pad_token_id(&self) -> i64 {
        self.0.pad_token_id().map_or(-1, i64::from)
    }

    pub fn encode(&self, input: &Input) -> FfiResult<Encoding> {
        let too_long = |too_long| Encoding {
            too_long,
            ..Encoding::default()
        };
        with_input(input, |input| self.0.encode(input), too_long)
    }

    pub fn encode_with_offsets(
        &self,
        input: &Input,
        stride: i64,
        max_windows: usize,
    ) -> FfiResult<EncodingWithOffsets> {
        let too_long = |too_long| EncodingWithOffsets {
            too_long,
            ..EncodingWithOffsets::default()
        };
        let stride = usize::try_from(stride).ok();
        let windows = stride.map(|stride| tokenizer::Windows {
            stride,
            max_windows: (max_windows > 0).then_some(max_windows),
        });
        with_input(
            input,
            |input| self.0.encode_with_offsets(input, windows),
            too_long,
        )
    }

    pub fn encode_whole_text(
        &self,
        text: &[u8],
        add_special_tokens: bool,
    ) -> FfiResult<EncodingWithOffsets> {
        let text = String::from_utf8_lossy(text);
        catch(|| self.0.encode_whole_text(&text, add_special_tokens))
    }

    pub fn encode_words(
        &self,
        prompt: &Vec<String>,
        text: &[u8],
        splitter: WordSplitter,
        max_words: usize,
        overlap: usize,
        rows: usize,
    ) -> FfiResult<WordsEncoding> {
        let input = tokenizer::WordsInput {
            prompt,
            text: &String::from_utf8_lossy(text),
            splitter,
            max_words,
            overlap,
            rows,
        };
        let too_long = |too_long| WordsEncoding {
            too_long,
            ..WordsEncoding::default()
        };
        catch(|| catch_too_long(self.0.encode_words(&input), too_long))
    }

    pub fn encode_text_by_words(&self, text: &[u8]) -> FfiResult<EncodingWithOffsets> {
        let text = String::from_utf8_lossy(text);
        catch(|| self.0.encode_text_by_words(&text))
    }

    pub fn decode(&self, ids: &[u32], skip_special_tokens: bool) -> FfiResult<String> {
        catch(|| self.0.decode(ids, skip_special_tokens))
    }

    pub fn find_unknown_id(&self, ids: &[u32]) -> i64 {
        let index = self.0.find_unknown_id(ids);
        index
            .and_then(|index| i64::try_from(index).ok())
            .unwrap_or(-1)
    }

    pub fn id_to_token(&self, id: u32) -> String {
        self.0.id_to_token(id)
    }

    pub fn convert_tokens_to_string(&self, tokens: Vec<String>) -> FfiResult<String> {
        catch(|| self.0.convert_tokens_to_string(tokens))
    }

    pub fn has_subword_prefix(&self) -> bool {
        self.0.has_subword_prefix()
    }

    pub fn unk_token_id(&self) -> i64 {
        self.0.unk_token_id().map_or(-1, i64::from)
    }

    pub fn expansion_token_id(&self) -> i64 {
        self.0.expansion_token_id().map_or(-1, i64::from)
    }

    pub fn token_to_id(&self, token: &str) -> i64 {
        self.0.token_to_id(token).map_or(-1, i64::from)
    }
}

/// Converts the input and calls `tokenize`. `too_long` converts the message of a `TooLong` error to a result.
fn with_input<T>(
    input: &Input,
    tokenize: impl FnOnce(tokenizer::Input) -> Result<T>,
    too_long: impl FnOnce(String) -> T,
) -> FfiResult<T> {
    let [text, pair] = [input.text, input.pair].map(String::from_utf8_lossy);
    let input = tokenizer::Input {
        text: &text,
        pair: Some(&pair),
        truncation: input.truncation,
        kept_side: match input.side {
            TruncationSide::Right => Some(Side::Start),
            TruncationSide::Left => Some(Side::End),
            _ => None,
        },
        is_pair: input.is_pair,
        max_tokens: (input.max_tokens > 0).then_some(input.max_tokens),
    };
    catch(|| catch_too_long(tokenize(input), too_long))
}

/// Converts the message of a `TooLong` error to a result.
fn catch_too_long<T>(result: Result<T>, too_long: impl FnOnce(String) -> T) -> Result<T> {
    match result {
        Err(error) if error.is::<tokenizer::TooLong>() => Ok(too_long(error.to_string())),
        result => result,
    }
}

pub fn parse_safetensors(file: &[u8]) -> FfiResult<Vec<Tensor>> {
    catch(|| tensors::parse(file))
}

pub fn tokenizers_version() -> String {
    // The crate exports no version; its lock file states it.
    let lock = include_str!("../../Cargo.lock");
    let entry = lock.split("name = \"tokenizers\"\nversion = \"").nth(1);
    let version = entry.and_then(|rest| rest.split('"').next());
    format!("tokenizers {}", version.unwrap_or("?"))
}
