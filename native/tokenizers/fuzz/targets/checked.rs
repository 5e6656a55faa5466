//! A tokenizer as C++ has it, with what the bridge promises checked.

use std::path::Path;

use crate::bridge::{self, Encoding, Family, Input, Truncation, TruncationSide};

/// What else is asked of an encoding.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub pair: &'a [u8],
    pub truncation: Truncation,
    pub side: TruncationSide,
}

impl Default for Asked<'_> {
    fn default() -> Self {
        Self {
            pair: b"",
            truncation: Truncation::LongestFirst,
            side: TruncationSide::OfTokenizer,
        }
    }
}

pub struct Tokenizer(Box<bridge::Tokenizer>);

impl Tokenizer {
    /// Or the message of the failure.
    pub fn open(directory: &Path, family: Family, position_limit: usize) -> Result<Self, String> {
        let directory = directory.as_os_str().as_encoded_bytes();
        with_message(bridge::open_tokenizer(directory, family, position_limit)).map(Self)
    }

    pub fn max_length(&self) -> usize {
        self.0.max_length()
    }

    pub fn limit(&mut self, position_limit: usize) -> Result<(), String> {
        with_message(self.0.limit(position_limit))
    }

    pub fn encode(&self, text: &[u8]) -> Result<Encoding, String> {
        self.encode_asked(text, Asked::default())
    }

    /// Checks what is said of every encoding.
    pub fn encode_asked(&self, text: &[u8], asked: Asked) -> Result<Encoding, String> {
        let Asked {
            pair,
            truncation,
            side,
        } = asked;
        let encoding = with_message(self.0.encode(&Input {
            text,
            pair,
            truncation,
            side,
            is_pair: false,
            most: 0,
        }))?;
        if !encoding.too_long.is_empty() {
            assert!(encoding.too_long.contains(" tokens"), "{encoding:?}");
            return Err(encoding.too_long);
        }
        let length = encoding.input_ids.len();
        assert_eq!(length, encoding.token_type_ids.len());
        assert!(length <= self.max_length());
        assert!(!encoding.truncated || length == self.max_length());
        Ok(encoding)
    }
}

fn with_message<T>(result: Result<T, String>) -> Result<T, String> {
    result.inspect_err(|message| assert!(!message.is_empty() && !message.contains('\0')))
}
