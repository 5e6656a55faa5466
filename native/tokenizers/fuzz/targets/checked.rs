//! A tokenizer that checks the guarantees of the bridge for each encoding.

use std::path::Path;

use crate::bridge::{self, Encoding, Family, Input, Truncation, TruncationSide};

/// Options of an encoding.
#[derive(Clone, Copy)]
pub struct EncodeRequest<'a> {
    pub pair: &'a [u8],
    pub truncation: Truncation,
    pub side: TruncationSide,
}

impl Default for EncodeRequest<'_> {
    fn default() -> Self {
        Self {
            pair: b"",
            truncation: Truncation::LongestFirst,
            side: TruncationSide::TokenizerDefault,
        }
    }
}

pub struct Tokenizer(Box<bridge::Tokenizer>);

impl Tokenizer {
    /// Opens a tokenizer; the error is the bridge's message.
    pub fn open(directory: &Path, family: Family, position_limit: usize) -> Result<Self, String> {
        let directory = directory.as_os_str().as_encoded_bytes();
        with_message(bridge::open_tokenizer(directory, family, position_limit)).map(Self)
    }

    pub fn max_length(&self) -> usize {
        self.0.max_length()
    }

    pub fn limit_positions(&mut self, position_limit: usize) -> Result<(), String> {
        with_message(self.0.limit_positions(position_limit))
    }

    pub fn encode(&self, text: &[u8]) -> Result<Encoding, String> {
        self.encode_request(text, EncodeRequest::default())
    }

    /// Encodes and checks the guarantees that hold for every encoding.
    pub fn encode_request(&self, text: &[u8], request: EncodeRequest) -> Result<Encoding, String> {
        let EncodeRequest {
            pair,
            truncation,
            side,
        } = request;
        let encoding = with_message(self.0.encode(&Input {
            text,
            pair,
            truncation,
            side,
            is_pair: false,
            max_tokens: 0,
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
